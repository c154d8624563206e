import { CallDeadline } from '../../ground/call-deadline.ts'
import type { RedisClient } from './redis-client.ts'
import { type RedisScript, runScript } from './redis-script.ts'
import { replicated } from './replicated.ts'
import { withoutArguments } from './without-arguments.ts'

type Arguments = readonly (string | number)[]

/** Runs calls to a Redis client with a deadline. All of them reject with `store_unavailable`. */
export class RedisCalls {
  readonly #client: RedisClient
  readonly #deadline: CallDeadline
  readonly #replicaMs: number | undefined

  /** @param isReplicated Whether durable changes wait for a replica. */
  constructor(client: RedisClient, deadlineMs: number, isReplicated: boolean) {
    this.#client = client
    this.#deadline = new CallDeadline(deadlineMs, 'sessmgr Redis server', { tidy: withoutArguments })
    this.#replicaMs = isReplicated ? Math.ceil(deadlineMs / 2) : undefined
  }

  /** Calls the client. */
  ask<T>(question: (client: RedisClient) => PromiseLike<T>): Promise<T> {
    return this.#deadline.run(() => question(this.#client))
  }

  /**
   * Makes an optional call, for which there is a fallback. Resolves to undefined if Redis refuses it, for example for
   * lack of permission.
   */
  async tryAsk<T>(question: (client: RedisClient) => PromiseLike<T> | undefined): Promise<T | undefined> {
    try {
      return await this.ask(async (client) => question(client))
    } catch (error) {
      if ((error as Error).cause === undefined) throw error
      return undefined
    }
  }

  /** Runs a script on a key, or on keys of one slot. */
  run(script: RedisScript, key: string | readonly string[], args?: Arguments): Promise<unknown> {
    return this.ask((client) => runScript(client, script, key, args))
  }

  /**
   * Runs a script whose change must survive a failover, if the option `durability` asks for that.
   *
   * @param onReply Called with the script's reply, even if no replica confirms the change.
   */
  runDurably(script: RedisScript, key: string, args?: Arguments, onReply?: (reply: unknown) => void): Promise<unknown> {
    const write = async (client: RedisClient) => {
      const reply = await runScript(client, script, key, args)
      onReply?.(reply)
      return reply
    }
    const waitMs = this.#replicaMs
    return this.ask((client) => (waitMs === undefined ? write(client) : replicated(client, key, waitMs, write)))
  }
}
