import { SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { SessionRegistry } from '../sessions/session-registry.ts'
import { justErased } from '../sessions/user-state.ts'

/** How long unknown sessions of an erased user are not adopted: as long as browsers keep a cookie. */
const MARK_MS = 400 * 24 * 60 * 60_000
const GROUP = 'erased'
const MESSAGE = 'You have been signed out in the meantime. Please sign in again.'

interface ErasureStore {
  readonly transients: TransientStore
  readonly sessions: Pick<SessionRegistry, 'read' | 'quietMs'>
}

/** Keeps a mark of each erasure, so that nothing older about the user is written. */
export class Erasures {
  readonly #transients: TransientStore
  readonly #sessions: ErasureStore['sessions']

  /** @param store Its transients must hide their keys, because a mark must not reveal the user's id. */
  constructor({ transients, sessions }: ErasureStore) {
    this.#transients = transients
    this.#sessions = sessions
  }

  /** For how many milliseconds after an erasure something from before may still be reported. */
  get quietMs(): number {
    return this.#sessions.quietMs
  }

  /**
   * Returns when a user was last erased, by the store's clock, or undefined. Also for a name under which a user was
   * recorded; see {@link recordedName}.
   */
  async of(name: UserId): Promise<number | undefined> {
    const text = await this.#transients.get(keyOf(name))
    return text === undefined ? undefined : Number(text)
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
    return Date.now() - (await this.#sessions.read(0)).now
  }

  /** Marks, for all processes, that everything about a user from before `at` must be deleted. */
  async mark(names: readonly UserId[], at: number): Promise<void> {
    await Promise.all(names.map((name) => this.#transients.set(keyOf(name), String(at), MARK_MS)))
    await this.#transients.advance(GROUP)
  }

  /**
   * Runs work that stores something about a user apart from their document.
   *
   * @param undo Called if the user was erased meanwhile.
   * @throws SessmgrError `session_ended` if the user was erased meanwhile; `store_unavailable` shortly after an erasure.
   */
  async unlessErased<Result>(
    userId: UserId,
    work: () => Promise<Result>,
    undo: () => Promise<unknown>,
  ): Promise<Result> {
    const [before, { isErased }] = await Promise.all([this.of(userId), this.#sessions.read(userId)])
    if (isErased) throw justErased()
    const result = await work()
    if ((await this.of(userId)) === before) return result
    await undo()
    throw signedOutMeanwhile()
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
