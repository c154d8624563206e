import type { LogoutEpoch, SiteLogout } from '../../sessions/logout-epoch.ts'
import advanceLua from './lua/advance-epoch.lua'
import { readCount } from './read-count.ts'
import type { RedisCalls } from './redis-calls.ts'
import { redisScript } from './redis-script.ts'

const ADVANCE = redisScript(advanceLua)

/** Counts the site-wide logouts in Redis. */
export class RedisLogoutEpoch implements LogoutEpoch {
  readonly #calls: RedisCalls
  readonly #key: string
  #asking: Promise<number> | undefined

  constructor(calls: RedisCalls, key: string) {
    this.#calls = calls
    this.#key = key
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
    return readCount(await this.#calls.ask((client) => client.get(this.#key)), this.#key)
  }

  async advance(): Promise<SiteLogout> {
    return (await this.#advance([])) as SiteLogout
  }

  advanceFrom(generation: number): Promise<SiteLogout | undefined> {
    return this.#advance([String(generation)])
  }

  async #advance(args: readonly string[]): Promise<SiteLogout | undefined> {
    const [generation, epoch] = (await this.#calls.runDurably(ADVANCE, this.#key, args)) as number[]
    return generation === undefined || epoch === undefined ? undefined : { generation, epoch }
  }
}
