import type { AuthContext } from 'better-auth'
import { APIError } from 'better-auth/api'
import { BoundedMap } from '../ground/bounded-map.ts'
import { SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import type { RequestState } from '../guard/host-types.ts'
import type { JoinedSessions } from '../guard/stores/session-stores.ts'
import type { Sessmgr } from '../service/service.ts'
import { coreOf } from '../service/service-core.ts'
import { tokenOf } from '../sessions/session-record.ts'
import { type ExplicitCalls, explicitCalls } from './explicit-calls.ts'

/** How many sessions a process knows the users of. */
const KNOWN = 10_000
/** How long a new session may take to be admitted. */
const NEW_MS = 60_000
/** The stored moment at which the plugin first ran with a store. */
const SINCE = 'sessmgr.better-auth'

/** A session of better-auth. Its `token` is the raw session id. */
export interface BetterAuthSession {
  /** The raw session id. */
  readonly token: string
  /** Id of the user. */
  readonly userId: string
  /** When the user signed in. */
  readonly createdAt: Date
  /** When the session expires. */
  readonly expiresAt: Date
  /** Address of the client. */
  readonly ipAddress?: string | null | undefined
  /** User agent of the client. */
  readonly userAgent?: string | null | undefined
  /** Id of the administrator who impersonates the user. */
  readonly impersonatedBy?: string | null | undefined
  readonly [field: string]: unknown
}

/** Options of `sessionLimit`. */
export interface BetterAuthLimitOptions {
  /**
   * Returns whether a session counts. Other sessions are neither registered nor checked.
   *
   * @default all except impersonation
   */
  readonly counts?: ((session: BetterAuthSession) => boolean) | undefined
  /**
   * Where a refused login goes if its endpoint redirects, as after OAuth.
   *
   * @default better-auth's page for errors, with the code
   */
  readonly refusedUrl?: string | undefined
  /**
   * Sessions from before this moment are registered when they are next used. Unregistered sessions from after it end.
   *
   * @default when the plugin first ran with this store
   */
  readonly adoptBefore?: Date | undefined
}

/** The session that a request came with. */
export interface Carried {
  readonly token: string
  /** Its state, which is empty if the session does not count, or if the request itself has deleted it. */
  state: RequestState
  /** Whether it came in a cookie. */
  hasCookie: boolean
}

/** The request that deletes a session, if there is one. */
interface Deleting {
  readonly own?: Carried | undefined
  readonly path?: string | undefined
}

type InternalAdapter = AuthContext['internalAdapter']

/** Returns for how many milliseconds a session lives. */
export const lifeOf = ({ expiresAt }: Pick<BetterAuthSession, 'expiresAt'>): number =>
  Math.max(1, Math.floor(new Date(expiresAt).getTime() - Date.now()))

/** better-auth's sessions: which of them are new, live, or about to be deleted. */
export class BetterAuthSessions implements JoinedSessions {
  readonly calls: ExplicitCalls
  readonly counts: (session: BetterAuthSession) => boolean
  readonly #limiter: Sessmgr
  readonly #adoptBefore: Date | undefined
  /** A token never changes its user. */
  readonly #users = new BoundedMap<string, UserId>(KNOWN)
  /** When sessions were created that nobody outside knows yet. */
  readonly #created = new Map<string, number>()
  /** Tokens whose end the limiter already knows. */
  readonly #leaving = new Set<string>()
  /** Tokens that were not registered when their deletion began. Another request may have registered them since. */
  readonly #unregistered = new BoundedMap<string, true>(KNOWN)
  #context: AuthContext | undefined
  /** The internal adapter, if it has to be listened to. */
  #adapter: InternalAdapter | undefined
  #started = 0
  #since: Promise<number> | undefined

  constructor(limiter: Sessmgr, { counts = (it) => !it.impersonatedBy, adoptBefore }: BetterAuthLimitOptions) {
    this.#limiter = limiter
    this.counts = counts
    this.#adoptBefore = adoptBefore
    this.calls = explicitCalls(limiter, this)
  }

  get context(): AuthContext {
    if (!this.#context) throw new Error('sessionLimit() is used before betterAuth() has started it.')
    return this.#context
  }

  start(context: AuthContext): void {
    this.#context = context
    this.#started = Date.now()
    this.#since = this.#firstStart()
    // Asked again when a session needs it.
    this.#since.catch(() => {})
  }

  async exists(token: string): Promise<boolean> {
    const session = await this.#find(token)
    return session !== undefined && session.expiresAt.getTime() > Date.now()
  }

  async destroy(token: string): Promise<void> {
    await this.#leave(token, () => (this.#adapter ?? this.context.internalAdapter).deleteSession(token))
  }

  /** Notes a session that is being created. */
  note(token: string): void {
    const now = Date.now()
    for (const [old, at] of this.#created) {
      if (now - at < NEW_MS) break
      this.#created.delete(old)
    }
    this.#created.set(token, now)
  }

  /** Takes the note of a session, which happens once. Returns false if there is none. */
  takeNote(token: string): boolean {
    return this.#created.delete(token)
  }

  /** Checks the session of a request. */
  async check(token: string): Promise<RequestState> {
    const { calls } = this
    let userId = this.#users.get(token)
    if (userId === undefined) {
      const session = await this.#find(token)
      if (!session) return calls.missing({ sessionId: token })
      if (!this.counts(session)) return {}
      userId = session.userId
      if (await this.#isFromBefore(session)) {
        const adopted = await calls.adopt({ userId, sessionId: token, ttlMs: lifeOf(session) })
        if (!adopted.session) return adopted
        // A deletion that came in between had nothing to end yet.
        if (!(await this.#find(token))) await this.#limiter.sessions.end(userId, tokenOf(token))
      }
      this.#users.set(token, userId)
    }
    const state = await calls.check({ userId, sessionId: token })
    if (!state.session) this.#users.delete(token)
    return state
  }

  /** Records that better-auth has moved the end of a session. */
  async prolong(session: Partial<BetterAuthSession> | null): Promise<void> {
    const { token, userId, expiresAt } = session ?? {}
    if (token && userId && expiresAt) await this.calls.touch({ userId, sessionId: token, ttlMs: lifeOf({ expiresAt }) })
  }

  /** Ends a session that better-auth is about to delete. */
  async release(userId: UserId, token: string, { own, path }: Deleting): Promise<void> {
    if (this.#leaving.has(token) || this.takeNote(token)) return
    this.#users.delete(token)
    await this.#leave(token, async () => {
      if (path === '/sign-out') return this.calls.logout({ userId, sessionId: token })
      const isEnded = await this.#limiter.sessions.end(userId, tokenOf(token))
      if (!isEnded) this.#unregistered.set(token, true)
      // Otherwise, another request has ended it, and this one must not go on.
      if (isEnded && own?.token === token) own.state = {}
    })
  }

  /** Ends a session that better-auth has deleted, if it was registered meanwhile. */
  async releaseAgain(userId: UserId, token: string): Promise<void> {
    if (this.#unregistered.delete(token)) await this.#limiter.sessions.end(userId, tokenOf(token))
  }

  /** Ends all sessions of a user that better-auth is about to delete. */
  async releaseAll(userId: UserId, own?: Carried): Promise<void> {
    if (own?.state.session?.userId === userId) await this.release(userId, own.token, { own })
    await this.#limiter.sessions.endAll(userId)
  }

  /**
   * Returns the internal adapter for a request. If sessions are only in the secondary storage, their
   * deletion runs no database hooks, so the methods of the adapter are replaced.
   */
  listen({ internalAdapter, options }: AuthContext, own: Carried | undefined, path: string): InternalAdapter {
    if (!options.secondaryStorage || options.session?.storeSessionInDatabase) return internalAdapter
    if (!this.#adapter) {
      const direct = { ...internalAdapter }
      this.#adapter = direct
      Object.assign(internalAdapter, this.#listening(direct, {}))
    }
    return own ? { ...internalAdapter, ...this.#listening(this.#adapter, { own, path }) } : internalAdapter
  }

  #listening(direct: InternalAdapter, deleting: Deleting): Partial<InternalAdapter> {
    const ownerOf = async (token: string) => this.#users.get(token) ?? (await this.#find(token))?.userId
    const around = async (tokens: string[], remove: () => Promise<void>) => {
      const users = await Promise.all(tokens.map(ownerOf))
      const each = (end: (userId: UserId, token: string) => Promise<void>) =>
        Promise.all(users.map((userId, index) => userId !== undefined && end(userId, tokens[index] ?? ''))).catch(
          rethrow,
        )
      await each((userId, token) => this.release(userId, token, deleting))
      await remove()
      await each((userId, token) => this.releaseAgain(userId, token))
    }
    return {
      deleteSession: (token) => around([token], () => direct.deleteSession(token)),
      deleteSessions: (tokens) => around(tokens, () => direct.deleteSessions(tokens)),
      deleteUserSessions: async (userId) => {
        await this.releaseAll(userId, deleting.own).catch(rethrow)
        return direct.deleteUserSessions(userId)
      },
    }
  }

  async #find(token: string): Promise<BetterAuthSession | undefined> {
    return (await this.context.internalAdapter.findSession(token))?.session
  }

  /** Does something that ends a session, during which better-auth's deletion of it is no news. */
  async #leave(token: string, end: () => Promise<void>): Promise<void> {
    if (this.#leaving.has(token)) return
    this.#leaving.add(token)
    try {
      await end()
    } finally {
      this.#leaving.delete(token)
    }
  }

  /** Checks whether a session is older than the plugin. One whose end is known must not come back. */
  async #isFromBefore({ token, createdAt }: BetterAuthSession): Promise<boolean> {
    this.#since ??= this.#firstStart()
    const before = this.#adoptBefore?.getTime() ?? (await this.#since)
    if (new Date(createdAt).getTime() >= before) return false
    const { ended } = await this.calls.missing({ sessionId: token })
    return ended?.cause === undefined
  }

  /** Returns when the plugin first ran with this store. */
  async #firstStart(): Promise<number> {
    try {
      const { options } = coreOf(this.#limiter).options.store
      if (!(await options.get(SINCE))) await options.swap(SINCE, undefined, this.#started)
      return Number((await options.get(SINCE))?.value ?? this.#started)
    } catch (error) {
      this.#since = undefined
      throw error
    }
  }
}

/** Throws an error of sessmgr as the response of an endpoint. */
export function rethrow(error: unknown): never {
  throw error instanceof SessmgrError && error.status !== 500 ? apiError(error) : error
}

/** Returns an error of sessmgr as the response of an endpoint, with `more` in its body. */
export function apiError({ status, code, message, headers }: SessmgrError, more: object = {}): APIError {
  const error = new APIError(status as 401, undefined, headers)
  // The constructor would hide a `cause`.
  error.body = { ...more, code: code.toUpperCase(), message }
  return error
}
