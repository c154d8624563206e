import type { WatchedSession } from '../../store.ts'
import type { Keys } from '../redis-calls.ts'
import { readCount } from '../redis-values.ts'
import type { ServerClock } from '../registry/server-clock.ts'
import { decodeLife, fieldName, type SessionLife } from '../registry/session-codec.ts'
import { keyPrefixOf, type TrackableClient } from './trackable-client.ts'

/** The current logout generation, undefined until it has been read. */
interface Epoch {
  generation: number | undefined
}

/** Reads sessions on a connection on which Redis reports changes. A read stays valid until a change is reported. */
export class SessionFollower {
  readonly #own: TrackableClient
  readonly #keys: Keys
  readonly #clock: ServerClock
  readonly #prefix: string
  readonly #onRefusal: () => void
  readonly #users: FollowedUsers
  #epoch: Epoch | undefined

  /** @param onRefusal Called if Redis refuses to watch a key. */
  constructor(
    own: TrackableClient,
    { keys, clock }: { keys: Keys; clock: ServerClock },
    capacity: number,
    onRefusal: () => void,
  ) {
    this.#own = own
    this.#users = new FollowedUsers(capacity)
    this.#keys = keys
    this.#clock = clock
    this.#prefix = keyPrefixOf(own)
    this.#onRefusal = onRefusal
  }

  /** Reads a session's state from the server. */
  follow(session: WatchedSession): void {
    session.endedBefore = undefined
    this.#epoch ??= this.#readEpoch()
    const epoch = this.#epoch
    const [keys, clock] = [this.#keys, this.#clock]
    const key = keys.sessions(session.userId)
    const fullKey = this.#prefix + key
    if (!clock.isToCome(this.#users.of(fullKey).until)) this.#users.drop(fullKey)
    if ((session.knowledge as FollowedUser | undefined)?.isLoggedOut) return this.#readOnce(session, epoch, key)
    // Created before the read, because a change pushed right after the reply is handled before the reply's callbacks
    // run.
    const user = this.#users.of(fullKey)
    this.#readTracked(
      () => this.#own.hGet(key, fieldName(session.token)),
      (value) => {
        const life = typeof value === 'string' ? decodeLife(value) : undefined
        if (life?.token !== session.token || !clock.isToCome(life.expiresAt)) return
        if (epoch.generation === undefined) return
        if (life.generation < epoch.generation) return this.#noteEnd(session, epoch.generation, life, value)
        if (!user.valid) return
        user.until = Math.min(user.until, life.expiresAt)
        session.knowledge = user
        session.use = clock.useOf(life)
      },
    )
  }

  /** Reads a session without following it, because a site-wide logout has probably ended it. */
  #readOnce(session: WatchedSession, epoch: Epoch, key: string): void {
    session.knowledge = undefined
    this.#own.hGet(key, fieldName(session.token)).then(
      (value) => {
        const life = typeof value === 'string' ? decodeLife(value) : undefined
        const { generation = 0 } = epoch
        if (life?.token === session.token && life.generation < generation)
          this.#noteEnd(session, generation, life, value)
      },
      () => {},
    )
  }

  /** Records that a site-wide logout has ended a session. Generations only grow, so the session stays ended. */
  #noteEnd(session: WatchedSession, generation: number, life: SessionLife, stored: unknown): void {
    session.endedBefore = generation
    session.use = { ...this.#clock.useOf(life), stored }
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

  /** Reads a key and lets Redis watch it. The reply counts only if Redis has confirmed that it watches the key. */
  #readTracked(read: () => Promise<unknown>, note: (value: unknown) => void, onFailure = () => {}): void {
    let isTracked = false
    this.#own.sendCommand(['CLIENT', 'CACHING', 'YES']).then(() => {
      isTracked = true
    }, this.#onRefusal)
    read()
      .then((value) => (isTracked ? note(value) : onFailure()))
      .catch(onFailure)
  }

  /** Forgets what a push reports as changed: one key, or all keys. */
  changed(key: unknown): void {
    const name = key === null || key === undefined ? undefined : String(key)
    const isLogout = name === this.#prefix + this.#keys.epoch
    if (name === undefined || isLogout) this.forget(isLogout)
    else this.#users.drop(name)
  }

  /** Forgets everything. */
  forget(isLogout = false): void {
    this.#epoch = undefined
    this.#users.dropAll(isLogout)
  }
}

/** A user's entry. While it is valid, none of the user's sessions has changed since it was read. */
export class FollowedUser {
  valid = true
  /** When the first of the user's followed sessions expires, by the server's clock. */
  until = Number.POSITIVE_INFINITY
  /** Whether a request has used the entry since it was last considered for eviction. */
  used = false
  /** Whether a site-wide logout has made it invalid. */
  isLoggedOut = false
}

/** The followed users, by key. When there are too many, evicts a user who was not active recently. */
export class FollowedUsers {
  readonly #users = new Map<string, FollowedUser>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Returns a user's valid entry, creating one if needed. */
  of(key: string): FollowedUser {
    let user = this.#users.get(key)
    if (user) return user
    while (this.#users.size >= this.#capacity) this.#makeRoom()
    user = new FollowedUser()
    this.#users.set(key, user)
    return user
  }

  #makeRoom(): void {
    const [key, user] = this.#users.entries().next().value as [string, FollowedUser]
    this.#users.delete(key)
    if (user.used) {
      user.used = false
      this.#users.set(key, user)
    } else user.valid = false
  }

  /** Drops a user's entry. */
  drop(key: string): void {
    const user = this.#users.get(key)
    if (!user) return
    user.valid = false
    this.#users.delete(key)
  }

  dropAll(isLoggedOut = false): void {
    for (const user of this.#users.values()) {
      user.valid = false
      user.isLoggedOut = isLoggedOut
    }
    this.#users.clear()
  }
}
