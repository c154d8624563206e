import type { AuthContext } from 'better-auth'
import { APIError } from 'better-auth/api'
import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { RequestState } from '../../index.ts'

/** A call to a better-auth endpoint. */
export interface Visit {
  /** Token of the session that the call came with. */
  readonly token: string | undefined
  /** The state of the call's session when the call began. Empty if the session does not count toward the limit. */
  readonly state: RequestState
  /** Whether the session came in a cookie. */
  readonly isInCookie: boolean
  /** Path of the endpoint. */
  readonly path: string
  /** Tokens of the sessions that this call, or the call that contains it, has created. */
  readonly created: string[]
  /** Whether the endpoint has looked up the session of the call. */
  isAsked?: boolean
  /** Whether the call has deleted its own session, which still keeps its slot until the call ends. */
  isDropped?: boolean
  /** Whether the call has ended its own session. */
  isReleased?: boolean
}

/** The part of better-auth's sessions that guarded reads and deletions need. */
interface GuardedSessions {
  isOver(token: string, visit?: Visit): Promise<boolean>
  ownerOf(token: string): Promise<UserId | undefined>
  release(userId: UserId, token: string, visit?: Visit): Promise<void>
  releaseAgain(userId: UserId, token: string): Promise<void>
  releaseAll(userId: UserId, visit?: Visit): Promise<void>
}

export type InternalAdapter = AuthContext['internalAdapter']
type Options = AuthContext['options']

/** The key under which a guarded object keeps better-auth's own. */
const ORIGINAL = Symbol('sessmgr.original')

/** Returns better-auth's own object if this is a guarded one, or else the object itself. */
export const originalOf = <T extends object>(it: T & { [ORIGINAL]?: T }): T => it[ORIGINAL] ?? it

/**
 * Returns better-auth's adapter and options, guarded so that reads never find an ended session, even if a cookie caches
 * it or a hook looks it up.
 *
 * @param visit The endpoint call that reads, if any.
 */
export function guardReads(
  sessions: GuardedSessions,
  { internalAdapter, options }: AuthContext,
  visit?: Visit,
): Pick<AuthContext, 'internalAdapter' | 'options'> {
  const direct = originalOf(internalAdapter)
  const isOver = (token: string) => sessions.isOver(token, visit).catch(rethrow)
  // better-auth runs no database hooks when it deletes sessions that are only in secondary storage.
  const isSecondary = options.secondaryStorage && !options.session?.storeSessionInDatabase
  const guarded = {
    ...internalAdapter,
    ...reading(direct, isOver, visit),
    ...(isSecondary && deleting(sessions, direct, visit)),
    [ORIGINAL]: direct,
  }
  return { internalAdapter: guarded, options: guardedOptions(options, isOver) }
}

type IsOver = (token: string) => Promise<boolean>

function reading(direct: InternalAdapter, isOver: IsOver, visit?: Visit): Partial<InternalAdapter> {
  const withoutOver = async <Found>(found: Found[], tokenOf: (one: Found) => string) => {
    const over = await Promise.all(found.map((one) => isOver(tokenOf(one))))
    return found.filter((_, index) => !over[index])
  }
  return {
    async findSession(token) {
      if (visit && token === visit.token) visit.isAsked = true
      const found = await direct.findSession(token)
      return found && (await isOver(token)) ? null : found
    },
    findSessions: async (...given) => withoutOver(await direct.findSessions(...given), ({ session }) => session.token),
    listSessions: async (...given) => withoutOver(await direct.listSessions(...given), ({ token }) => token),
  }
}

function deleting(sessions: GuardedSessions, direct: InternalAdapter, visit?: Visit): Partial<InternalAdapter> {
  const around = async (tokens: string[], remove: () => Promise<void>) => {
    const users = await Promise.all(tokens.map((token) => sessions.ownerOf(token)))
    const each = (end: (userId: UserId, token: string) => Promise<void>) =>
      Promise.all(users.map((userId, index) => userId !== undefined && end(userId, tokens[index] ?? ''))).catch(rethrow)
    await each((userId, token) => sessions.release(userId, token, visit))
    await remove()
    await each((userId, token) => sessions.releaseAgain(userId, token))
  }
  return {
    deleteSession: (token) => around([token], () => direct.deleteSession(token)),
    deleteSessions: (tokens) => around(tokens, () => direct.deleteSessions(tokens)),
    async deleteUserSessions(userId) {
      await sessions.releaseAll(userId, visit).catch(rethrow)
      return direct.deleteUserSessions(userId)
    },
  }
}

/** Returns the options with a cookie cache that treats every ended session as outdated. */
function guardedOptions(options: Options, isOver: IsOver): Options {
  const session = originalOf(options.session ?? {})
  const { cookieCache } = session
  if (!cookieCache?.enabled) return options
  const { version } = cookieCache
  const current: Extract<typeof version, (...given: never) => unknown> = async (held, user) => {
    // Matches no version, not even the previous one.
    if (await isOver(held.token)) return crypto.randomUUID()
    return (typeof version === 'function' ? version(held, user) : version) || '1'
  }
  const guarded = { ...session, cookieCache: { ...cookieCache, version: current }, [ORIGINAL]: session }
  return { ...options, session: guarded }
}

/** Rethrows an error. An error of sessmgr becomes the endpoint's response, unless its status is 500. */
export function rethrow(error: unknown): never {
  throw error instanceof SessmgrError && error.status !== 500 ? apiError(error) : error
}

/** Converts an error of sessmgr to the response of an endpoint, with `more` in its body. */
export function apiError({ status, code, message, headers }: SessmgrError, more: object = {}): APIError {
  const error = new APIError(status as 401, undefined, headers)
  // Set here, because the constructor would hide a `cause` in the body.
  error.body = { ...more, code: code.toUpperCase(), message }
  return error
}
