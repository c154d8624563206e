import { SessmgrError } from '../ground/errors.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { UserId } from '../ground/user-id.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { SessionRegistry } from '../sessions/session-registry.ts'

/** As long as browsers keep a cookie: unknown sessions of an erased user are not adopted. */
const MARK_MS = 400 * 24 * 60 * 60_000
/** How long logins of a user are refused if the process that erases the user stops in the middle. */
const RUNNING_MS = 10 * 60_000
/** How long an erasure takes at least, in milliseconds. */
export const LEAST_ERASURE_MS = 1000
const GROUP = 'erased'
const MESSAGE = 'You have been signed out in the meantime. Please sign in again.'

/** The erasure of a user. */
export interface Erasure {
  /** Differs for each erasure. */
  readonly id: string
  /** Sessions of the user with a lower sequence are over. Undefined until they have ended. */
  readonly sequence?: number | undefined
  /** When they ended, in milliseconds, by the store's clock. */
  readonly at?: number | undefined
  /** Whether it is still in progress. No login of the user is admitted meanwhile. */
  readonly isRunning: boolean
}

/** What is known about the last erasure of a user when something about the user begins. */
export interface ErasureBefore {
  readonly id: string | undefined
  /** Whether it was in progress, or may have begun since. */
  readonly isTooLate: boolean
}

/** Transients that may be stored under other keys than the given ones. */
type MarkStore = TransientStore & { storedKeys?(key: string): Promise<readonly string[]> }

interface ErasureStore {
  readonly transients: MarkStore
  readonly sessions: Pick<SessionRegistry, 'read'>
}

/** What an erasure leaves behind, so that nothing about the user is written afterwards. */
export class Erasures {
  readonly #transients: MarkStore
  readonly #sessions: Pick<SessionRegistry, 'read'>

  /** @param store Its transients must hide their keys: a mark must not name whom it is about. */
  constructor({ transients, sessions }: ErasureStore) {
    this.#transients = transients
    this.#sessions = sessions
  }

  /** Returns the last erasure of a user, or of a name under which a user was recorded; see {@link recordedName}. */
  async of(name: UserId): Promise<Erasure | undefined> {
    const text = await this.#transients.get(keyOf(name))
    return text === undefined ? undefined : (JSON.parse(text) as Erasure)
  }

  /** Looks up the last erasure of a user. Call it when the work about the user begins, for {@link hasChanged}. */
  async before(userId: UserId): Promise<ErasureBefore> {
    const startedAt = performance.now()
    const erasure = await this.of(userId)
    if (!erasure) return { id: undefined, isTooLate: false }
    // If the store was slow, it may have been asked before the erasure, and have answered after it.
    const wasSlow = performance.now() - startedAt >= LEAST_ERASURE_MS
    return { id: erasure.id, isTooLate: erasure.isRunning || wasSlow }
  }

  /** Returns the keys of a user's mark in the store. */
  async keysOf(userId: UserId): Promise<readonly string[]> {
    const key = keyOf(userId)
    return (await this.#transients.storedKeys?.(key)) ?? [key]
  }

  /** Changes when a user has been erased. Before writing about users, then look at their marks. */
  generation(): Promise<number> {
    return this.#transients.generation(GROUP)
  }

  /** Returns by how many milliseconds the clock of this process is ahead of the store's, or slightly more. */
  async clockAhead(): Promise<number> {
    const { now = Date.now() } = await this.#sessions.read(0)
    return Date.now() - now
  }

  /** Begins an erasure. From now on, no login of the user is admitted. */
  async begin(name: UserId): Promise<Erasure> {
    const erasure = { ...(await this.of(name)), id: nodeCrypto().randomUUID(), isRunning: true }
    await this.#transients.set(keyOf(name), JSON.stringify(erasure), RUNNING_MS)
    return erasure
  }

  /** Marks that everything about a user from before `erasure.at` must go, for all processes. */
  async note(names: readonly UserId[], erasure: Erasure): Promise<void> {
    const life = erasure.isRunning ? RUNNING_MS : MARK_MS
    await Promise.all(names.map((name) => this.#transients.set(keyOf(name), JSON.stringify(erasure), life)))
    await this.#transients.advance(GROUP)
  }

  /**
   * Runs work that stores something about a user.
   *
   * @param undo Called if the user was erased meanwhile.
   * @throws SessmgrError `session_ended` if the user was erased meanwhile.
   */
  async unlessErased<Result>(
    userId: UserId,
    work: () => Promise<Result>,
    undo: () => Promise<unknown>,
  ): Promise<Result> {
    const before = await this.before(userId)
    const result = await work()
    if (await this.hasChanged(userId, before)) {
      await undo()
      throw signedOutMeanwhile()
    }
    return result
  }

  /** Checks whether a user is being erased, or was erased since `before` was asked for. */
  async hasChanged(userId: UserId, before: ErasureBefore): Promise<boolean> {
    if (before.isTooLate) return true
    return (await this.of(userId))?.id !== before.id
  }
}

/** The error of a user who was erased, or whose session ended, while a request of theirs was in progress. */
export function signedOutMeanwhile(): SessmgrError {
  return new SessmgrError('session_ended', MESSAGE)
}

/** Returns the name of a user whom the activity log records by something else than the id. */
export function recordedName(name: UserId): string {
  return JSON.stringify(['recorded', name])
}

function keyOf(name: UserId): string {
  return `erased:${name}`
}
