import type { LogoutEpoch, SiteLogout } from '../../sessions/logout-epoch.ts'
import { AskedOnce } from './asked-once.ts'
import advanceLua from './lua/advance-epoch.lua'
import { readCount } from './read-count.ts'
import type { RedisCalls } from './redis-calls.ts'
import { redisScript } from './redis-script.ts'

const ADVANCE = redisScript(advanceLua)

/** Counts site-wide logouts in Redis. */
export class RedisLogoutEpoch implements LogoutEpoch {
  readonly #calls: RedisCalls
  readonly #key: string
  readonly #asked = new AskedOnce<number>()

  constructor(calls: RedisCalls, key: string) {
    this.#calls = calls
    this.#key = key
  }

  current(): Promise<number> {
    return this.#asked.of(this.#key, async () =>
      readCount(await this.#calls.ask((client) => client.get(this.#key)), this.#key),
    )
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
