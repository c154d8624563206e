import type { CallDeadline } from '../../ground/call-deadline.ts'
import type { LogoutEpoch, SiteLogout } from '../../sessions/logout-epoch.ts'
import advanceLua from './lua/advance-epoch.lua'
import { readCount } from './read-count.ts'
import type { RedisClient } from './redis-client.ts'
import { redisScript, runScript } from './redis-script.ts'
import type { DurableWrite } from './redis-session-registry.ts'

const ADVANCE = redisScript(advanceLua)

/** Counts the site-wide logouts in Redis. */
export class RedisLogoutEpoch implements LogoutEpoch {
  readonly #client: RedisClient
  readonly #key: string
  readonly #deadline: CallDeadline
  readonly #durable: DurableWrite
  #asking: Promise<number> | undefined

  constructor(client: RedisClient, key: string, deadline: CallDeadline, durable: DurableWrite) {
    this.#client = client
    this.#key = key
    this.#deadline = deadline
    this.#durable = durable
  }

  /**
   * Asks once for everybody who wants to know in one turn of the event loop. Their requests had all arrived when that
   * turn began, so a logout that was over before one of them was sent is always seen.
   */
  current(): Promise<number> {
    this.#asking ??= this.#ask()
    return this.#asking
  }

  async #ask(): Promise<number> {
    setImmediate(() => {
      this.#asking = undefined
    })
    return readCount(await this.#deadline.run(() => this.#client.get(this.#key)), this.#key)
  }

  async advance(): Promise<SiteLogout> {
    return (await this.#advance([])) as SiteLogout
  }

  advanceFrom(generation: number): Promise<SiteLogout | undefined> {
    return this.#advance([String(generation)])
  }

  async #advance(args: readonly string[]): Promise<SiteLogout | undefined> {
    const write = (client: RedisClient) => runScript(client, ADVANCE, this.#key, args)
    const [generation, epoch] = (await this.#deadline.run(() => this.#durable(this.#key, write))) as number[]
    return generation === undefined || epoch === undefined ? undefined : { generation, epoch }
  }
}
