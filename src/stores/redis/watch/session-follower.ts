import type { WatchedSession } from '../../verdict-watch.ts'
import type { Keys } from '../keys.ts'
import { readCount } from '../read-count.ts'
import type { ServerClock } from '../registry/server-clock.ts'
import { decodeLife, fieldName } from '../registry/session-codec.ts'
import { FollowedUsers } from './followed-users.ts'
import { keyPrefixOf, type TrackableClient } from './trackable-client.ts'

/** The epoch as it was read; undefined until then. */
interface Epoch {
  generation: number | undefined
}

/** Reads sessions over a connection on which Redis tells of changes, and knows them until it does. */
export class SessionFollower {
  readonly #own: TrackableClient
  readonly #keys: Keys
  readonly #clock: ServerClock
  readonly #prefix: string
  readonly #onRefusal: () => void
  readonly #users = new FollowedUsers()
  #epoch: Epoch | undefined

  /** @param onRefusal Called when Redis does not take on what it is asked to watch. */
  constructor(own: TrackableClient, { keys, clock }: { keys: Keys; clock: ServerClock }, onRefusal: () => void) {
    this.#own = own
    this.#keys = keys
    this.#clock = clock
    this.#prefix = keyPrefixOf(own)
    this.#onRefusal = onRefusal
  }

  /** Notes, from the server, what there is to know of a session. */
  follow(session: WatchedSession): void {
    this.#epoch ??= this.#readEpoch()
    const epoch = this.#epoch
    const [keys, clock] = [this.#keys, this.#clock]
    const key = keys.sessions(session.userId)
    const fullKey = this.#prefix + key
    if (!clock.isToCome(this.#users.of(fullKey).until)) this.#users.drop(fullKey)
    // Noted before it is read: a change that is told behind the reply comes before what waits for the reply.
    const user = this.#users.of(fullKey)
    this.#readTracked(
      () => this.#own.hGet(key, fieldName(session.token)),
      (value) => {
        const life = typeof value === 'string' ? decodeLife(value) : undefined
        if (!user.valid || life?.token !== session.token || !clock.isToCome(life.expiresAt)) return
        if (epoch.generation === undefined || life.generation < epoch.generation) return
        user.until = Math.min(user.until, life.expiresAt)
        session.knowledge = user
      },
    )
  }

  #readEpoch(): Epoch {
    const epoch: Epoch = { generation: undefined }
    const { epoch: key } = this.#keys
    this.#readTracked(
      () => this.#own.get(key),
      (value) => {
        epoch.generation = readCount(value, key)
      },
      () => {
        if (this.#epoch === epoch) this.#epoch = undefined
      },
    )
    return epoch
  }

  /** Reads something that Redis is to watch. What it replies counts only if Redis has said that it does. */
  #readTracked(read: () => Promise<unknown>, note: (value: unknown) => void, onFailure = () => {}): void {
    let isTracked = false
    this.#own.sendCommand(['CLIENT', 'CACHING', 'YES']).then(() => {
      isTracked = true
    }, this.#onRefusal)
    read()
      .then((value) => (isTracked ? note(value) : onFailure()))
      .catch(onFailure)
  }

  /** Drops what a push says has changed: one key, or all of them. */
  changed(key: unknown): void {
    const name = key === null || key === undefined ? undefined : String(key)
    if (name === undefined || name === this.#prefix + this.#keys.epoch) this.forget()
    else this.#users.drop(name)
  }

  /** Drops everything. */
  forget(): void {
    this.#epoch = undefined
    this.#users.dropAll()
  }
}
