import { setTimeout as sleep } from 'node:timers/promises'
import type { RedisClient } from '../../src/redis.ts'

type Task = (connection: RedisClient) => Promise<unknown>

/** The clock that the scripts of a store read in Redis: the server's, plus any number of minutes. */
export class RedisClock {
  #aheadMs = 0

  /**
   * Waits for less than a second, and moves the clock forward for more. Keys that Redis expires by itself are not
   * affected.
   */
  async pass(ms: number): Promise<void> {
    if (ms < 1000) await sleep(ms)
    else this.#aheadMs += ms
  }

  /** Moves the clock back, no further than the server's. */
  rewind(ms: number): void {
    this.#aheadMs = Math.max(0, this.#aheadMs - ms)
  }

  /** The same client, with this clock. */
  on(client: RedisClient): RedisClient {
    const lend = (method: (task: Task) => unknown) => (task: Task) =>
      method.call(client, (connection) => task(this.on(connection)))
    const own: Record<string, unknown> = {
      evalSha: async (...call: Parameters<RedisClient['evalSha']>) => {
        if (this.#aheadMs > 0) throw new Error('NOSCRIPT This clock changes the text of a script.')
        return client.evalSha(...call)
      },
      eval: (text: string, options: Parameters<RedisClient['eval']>[1]) => client.eval(this.#script(text), options),
      withCommandOptions: () => this.on(client),
      ...(client.execute && { execute: lend(client.execute) }),
      ...(client.use && { use: lend(client.use) }),
    }
    return new Proxy(client, {
      get(_, name) {
        const member = own[String(name)] ?? Reflect.get(client, name)
        return typeof member === 'function' ? member.bind(client) : member
      },
    })
  }

  #script(text: string): string {
    if (this.#aheadMs === 0) return text
    return `local redis = setmetatable({ call = function(command, ...)
      local answer = redis.call(command, ...)
      if command == 'TIME' then answer[1] = answer[1] + ${Math.ceil(this.#aheadMs / 1000)} end
      return answer
    end }, { __index = redis })
    ${text}`
  }
}
