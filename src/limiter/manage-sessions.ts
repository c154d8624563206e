import { signedOutMeanwhile } from '../auth/erasures.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { isRecord, requireKnown } from '../ground/option-checks.ts'
import { isUserId, requireUserId, type UserId } from '../ground/user-id.ts'
import type { EndedByWhom } from '../sessions/session-end.ts'
import {
  isCurrent,
  type Login,
  type SessionRecord,
  type StoredSession,
  type Token,
} from '../sessions/session-record.ts'
import { checkSession, heldSessions } from './check-session.ts'
import { endAllSessions, endByWhom, endOthers, endSession, endSeveral } from './ending/end-sessions.ts'
import type { LimiterContext } from './limiter-context.ts'

/** Selects a part of a user's sessions. */
export interface SessionPage {
  /** Maximum number of sessions: 1 or more. @default all */
  readonly limit?: number | undefined
  /** The `sequence` of the last session on the previous page. @default from the first session */
  readonly after?: number | undefined
  /** Only sessions with this label. @default all */
  readonly label?: string | undefined
}

/** Which of a user's sessions end, and on whose behalf. */
export interface EndedSessions extends EndedByWhom {
  /** Only sessions with this label, each of which fires `sessmgr_destroy_session` instead. @default all */
  readonly label?: string
}

/** Lists, counts and ends login sessions. All methods with a user id reject with `user_id_missing` if it is invalid. */
export interface SessionManager {
  /**
   * Lists a user's live sessions, oldest first. Resolves to an empty list for an unknown user.
   *
   * @param page The part to list. By default, all sessions: at most 1,000.
   * @throws SessmgrError `store_unavailable`; `invalid_option` for an invalid page.
   *
   * @example
   * ```ts
   * const sessions = await limiter.sessions.list(req.user.id)
   * ```
   */
  list(userId: UserId, page?: SessionPage): Promise<readonly SessionRecord[]>
  /**
   * Counts a user's live sessions, as far as they count toward the limit. Resolves to 0 for an unknown user.
   *
   * @throws SessmgrError `store_unavailable`.
   *
   * @example
   * ```ts
   * const isFull = (await limiter.sessions.count(req.user.id)) >= 2
   * ```
   */
  count(userId: UserId): Promise<number>
  /**
   * Ends one session of a user and fires `sessmgr_destroy_session`.
   *
   * @param whom On whose behalf the session ends, and a note for its user. Defaults to the application, here and in the
   * methods below.
   * @returns False if the user has no such session. In that case, no action fires.
   * @throws SessmgrError `invalid_option` for a missing token, or for a raw session id of the user instead of the
   * token. `store_unavailable`; the session may or may not have ended. The action fires only if the session is known to
   * have ended.
   *
   * @example
   * ```ts
   * await limiter.sessions.end(req.user.id, req.params.token, { by: 'user' })
   * ```
   */
  end(userId: UserId, token: Token, whom?: EndedByWhom): Promise<boolean>
  /**
   * Ends all of a user's sessions, fires `sessmgr_destroy_all_sessions`, and returns how many live sessions ended. Logins
   * that wait for the user's choice become void.
   *
   * Unregistered sessions (from before sessmgr, or before a restart) end on their next use if that is within 400 days.
   * Later logins are not affected.
   *
   * @param whom With a `label`, only the user's sessions with this label end, and waiting logins stay.
   * @throws SessmgrError `store_unavailable`; sessions may or may not have ended. The action fires only if they are
   * known to have ended.
   *
   * @example
   * ```ts
   * await limiter.sessions.endAll(user.id, { by: 'admin', note: 'Your account was locked.' })
   * ```
   */
  endAll(userId: UserId, whom?: EndedSessions): Promise<number>
  /**
   * Ends all of a user's sessions except one, atomically, and fires `sessmgr_destroy_session` for each. Call it after a
   * password change.
   *
   * Unregistered sessions and waiting logins end as with {@link SessionManager.endAll}.
   *
   * @param keepToken The token of the session to keep, as in `request.sessmgr.session`.
   * @returns How many live sessions ended.
   * @throws SessmgrError `invalid_option` if `keepToken` is not the token of one of the user's live sessions. In that
   * case, no session has ended. `store_unavailable`; sessions may or may not have ended. The actions fire only if they
   * are known to have ended.
   *
   * @example
   * ```ts
   * const { userId, token } = req.sessmgr.session
   * await limiter.sessions.endOthers(userId, token, { by: 'user', note: 'The password was changed.' })
   * ```
   */
  endOthers(userId: UserId, keepToken: Token, whom?: EndedByWhom): Promise<number>
  /**
   * Logs out every user of the site, in constant time, and fires `sessmgr_logout_all_users`.
   *
   * Each session is destroyed on its next request. With a `local` store, a restart forgets the logout.
   *
   * @param keep The only session that survives: the caller's own.
   * @returns The logout epoch in Unix seconds.
   * @throws SessmgrError `store_unavailable`; the logout may or may not have taken effect, and nothing fires.
   * `session_ended` if the session to keep is over, perhaps by another site-wide logout at the same moment, and
   * `invalid_option` if `keep` is not a session; nothing has changed.
   *
   * @example
   * ```ts
   * await limiter.sessions.logoutAllUsers(req.sessmgr.session)
   * ```
   */
  logoutAllUsers(keep?: Login, whom?: EndedByWhom): Promise<number>
}

/** Creates the session manager. */
export function createSessionManager(context: LimiterContext): SessionManager {
  const { store, hostSessions } = context

  async function list(userId: UserId, page: SessionPage = {}): Promise<readonly SessionRecord[]> {
    requireUserId(userId)
    const { limit = Number.POSITIVE_INFINITY, after = 0, label } = requirePage(page)
    const [{ sessions }, epoch] = await Promise.all([store.sessions.read(userId), store.epoch.current()])
    const all = sessions.filter(({ record }) => isCurrent(epoch, record) && record.sequence > after)
    const tokens = label === undefined ? [] : await tokensLabelled(all, label)
    const current = label === undefined ? all : all.filter(({ record }) => tokens.includes(record.token))
    const answers = await heldSessions(hostSessions, current, limit)
    const isThere = async ({ record: { token, actor } }: StoredSession) =>
      actor === null || (await checkSession(context, userId, token)).live
    const there = await Promise.all(current.map(async (one, index) => answers[index] === true && isThere(one)))
    const held = current.filter((_, index) => there[index]).map(({ record }) => record)
    return held.slice(0, limit)
  }

  async function tokensLabelled(sessions: readonly StoredSession[], label: string): Promise<readonly Token[]> {
    const { sessionsLabelled } = await import('./decision/label-group.ts')
    const records = sessions.map(({ record }) => record)
    return (await sessionsLabelled(context.labels, records, label)).map(({ token }) => token)
  }

  return {
    list,
    count: async (userId) => (await list(userId)).filter(({ counts }) => counts).length,
    end: endSession.bind(undefined, context),
    async endAll(userId, given) {
      if (!isRecord(given) || !Object.hasOwn(given, 'label')) return endAllSessions(context, userId, given)
      const { label, ...whom } = given as EndedSessions
      // Undefined, as of a parameter that was not sent, must not end every session.
      if (typeof label !== 'string' || label === '')
        throw invalidOption('"label" must be a string of 1 character or more')
      requireUserId(userId)
      endByWhom(whom)
      const { sessions } = await store.sessions.read(userId)
      return endSeveral(context, userId, await tokensLabelled(sessions, label), whom)
    },
    endOthers: endOthers.bind(undefined, context),
    async logoutAllUsers(keep, whom) {
      if (keep) requireSession(keep)
      const end = endByWhom(whom)
      const use = keep && (await store.sessions.useOf(keep.userId, keep.token))
      if (keep && (!use || use.isAged)) throw signedOutMeanwhile()
      const logout = await store.epoch.advance(use && { token: keep.token, generation: use.generation })
      if (!logout) throw signedOutMeanwhile()
      await context.events.report([{ type: 'logged out', logout, end, kept: keep?.userId }])
      return logout.epoch
    },
  }
}

function requirePage(page: SessionPage): SessionPage {
  const { limit = 1, after = 0, label = '' } = page ?? {}
  requireKnown(page ?? {}, ['limit', 'after', 'label'], (name) => `limiter.sessions.list() has no option "${name}"`)
  if (typeof label !== 'string') throw invalidOption('"label" must be a string')
  if (Number.isSafeInteger(limit) && limit >= 1 && Number.isSafeInteger(after) && after >= 0) return page
  throw invalidOption('A page of sessions needs a "limit" of 1 or more, and a session\'s sequence as "after"')
}

function requireSession({ userId, token }: { [Part in keyof Login]: unknown }): void {
  if (isUserId(userId) && typeof token === 'string' && token !== '') return
  throw invalidOption('"keep" must be a session as in request.sessmgr.session: { userId, token }')
}
