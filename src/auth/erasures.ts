import { SessmgrError } from '../ground/errors.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { UserId } from '../ground/user-id.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { SessionRegistry } from '../sessions/session-registry.ts'

/** How long unknown sessions of an erased user are not adopted: as long as browsers keep a cookie. */
const MARK_MS = 400 * 24 * 60 * 60_000
/** How long logins of a user are refused if the process that erases the user stops midway. */
const RUNNING_MS = 10 * 60_000
/** Minimum duration of an erasure, in milliseconds. */
export const LEAST_ERASURE_MS = 1000
const GROUP = 'erased'
const MESSAGE = 'You have been signed out in the meantime. Please sign in again.'

/** The erasure of a user. */
export interface Erasure {
  /** Unique for each erasure. */
  readonly id: string
  /** Sessions of the user with a lower sequence have ended. Undefined until they end. */
  readonly sequence?: number | undefined
  /** When the user's sessions ended, in milliseconds, by the store's clock. */
  readonly at?: number | undefined
  /** Whether the erasure is still in progress. Until it is done, no login of the user is admitted. */
  readonly isRunning: boolean
}

/** The last erasure of a user, looked up before anything about the user is stored. */
export interface ErasureBefore {
  readonly id: string | undefined
  /** Whether an erasure was in progress, or may have begun during the lookup. */
  readonly isTooLate: boolean
}

interface ErasureStore {
  readonly transients: TransientStore
  readonly sessions: Pick<SessionRegistry, 'read'>
}

/** Keeps a mark of each erasure, so that nothing older about the user is written. */
export class Erasures {
  readonly #transients: TransientStore
  readonly #sessions: Pick<SessionRegistry, 'read'>

  /** @param store Its transients must hide their keys, because a mark must not reveal the user's id. */
  constructor({ transients, sessions }: ErasureStore) {
    this.#transients = transients
    this.#sessions = sessions
  }

  /** Returns the last erasure of a user, or of a name under which a user was recorded; see {@link recordedName}. */
  async of(name: UserId): Promise<Erasure | undefined> {
    const text = await this.#transients.get(keyOf(name))
    return text === undefined ? undefined : (JSON.parse(text) as Erasure)
  }

  /**
   * Looks up the last erasure of a user. Call this before storing anything about the user, and pass the result to
   * {@link hasChanged}.
   */
  async before(userId: UserId): Promise<ErasureBefore> {
    const startedAt = performance.now()
    const erasure = await this.of(userId)
    if (!erasure) return { id: undefined, isTooLate: false }
    // A slow store may have received the call before the erasure, and responded after it.
    const wasSlow = performance.now() - startedAt >= LEAST_ERASURE_MS
    return { id: erasure.id, isTooLate: erasure.isRunning || wasSlow }
  }

  /**
   * Returns a number that changes when any user is erased. After a change, check users' marks before writing about
   * them.
   */
  generation(): Promise<number> {
    return this.#transients.generation(GROUP)
  }

  /**
   * Returns how many milliseconds this process's clock is ahead of the store's. The result may be slightly too high.
   */
  async clockAhead(): Promise<number> {
    const { now = Date.now() } = await this.#sessions.read(0)
    return Date.now() - now
  }

  /** Begins an erasure. Until it ends, no login of the user is admitted. */
  async begin(name: UserId): Promise<Erasure> {
    const erasure = { ...(await this.of(name)), id: nodeCrypto().randomUUID(), isRunning: true }
    await this.#transients.set(keyOf(name), JSON.stringify(erasure), RUNNING_MS)
    return erasure
  }

  /** Marks, for all processes, that everything about a user from before `erasure.at` must be deleted. */
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

  /** Checks whether a user is being erased, or was erased since {@link before} was called. */
  async hasChanged(userId: UserId, before: ErasureBefore): Promise<boolean> {
    if (before.isTooLate) return true
    return (await this.of(userId))?.id !== before.id
  }
}

/** Returns the error for a user who was erased, or whose session ended, during their request. */
export function signedOutMeanwhile(): SessmgrError {
  return new SessmgrError('session_ended', MESSAGE)
}

/** Returns the name that marks a user whom the activity log records under something other than the id. */
export function recordedName(name: UserId): string {
  return JSON.stringify(['recorded', name])
}

function keyOf(name: UserId): string {
  return `erased:${name}`
}
