import type { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { inWords, requireKnown, requireObject } from '../../ground/option-checks.ts'
import { requireUserId, type UserId } from '../../ground/user-id.ts'
import type { StolenSession } from '../../hooks/session-hooks.ts'
import { deviceName } from '../../sessions/device.ts'
import { type EndedByWhom, endedDespite, type SessionEnd } from '../../sessions/session-end.ts'
import {
  FIRST_EPOCH,
  isCurrent,
  type SessionRecord,
  type StoredSession,
  TOKEN_PATTERN,
  type Token,
  termsOf,
  tokenOf,
} from '../../sessions/session-record.ts'
import type { UserEnds } from '../../sessions/session-registry.ts'
import { isRegistered, type OverKind, touchSession } from '../check-session.ts'
import { type AnnouncedAction, asEvents, type LimiterEvent } from '../events.ts'
import type { LimiterContext } from '../limiter-context.ts'

type Ended = readonly StoredSession[]
type ActionsOf = (ended: Ended) => readonly AnnouncedAction[]

/** Ends one session of a user; see `SessionManager.end`. */
export async function endSession(
  context: LimiterContext,
  userId: UserId,
  token: Token,
  whom?: EndedByWhom,
): Promise<boolean> {
  const { store } = context
  requireUserId(userId)
  const end = endByWhom(whom)
  if (typeof token !== 'string') throw noToken()
  // Passing a raw session id is a mistake, and would silently end nothing. Any other string may come from a client.
  if (!TOKEN_PATTERN.test(token) && (await isRegistered(store, userId, tokenOf(token)))) throw noToken()
  return (await reportEnds(context, store.sessions.end(userId, [token]), end)).length > 0
}

/** Ends all sessions of a user; see `SessionManager.endAll`. */
export async function endAllSessions(context: LimiterContext, userId: UserId, whom?: EndedByWhom): Promise<number> {
  requireUserId(userId)
  const end = endByWhom(whom)
  return liveOf(context, reportEnds(context, context.store.sessions.end(userId), end, allSessionsOf(userId)))
}

/** Ends all sessions of a user except one, for the application; see `SessionManager.endOthers`. */
export function endOthers(
  context: LimiterContext,
  userId: UserId,
  keepToken: Token,
  whom?: EndedByWhom,
): Promise<number> {
  return endExcept(context, false, userId, keepToken, whom)
}

/**
 * Ends a user's other sessions at the user's request. Because the password has not changed, the user's choices keep
 * counting toward a cooldown.
 */
export function signOutOthers(
  context: LimiterContext,
  userId: UserId,
  keepToken: Token,
  whom?: EndedByWhom,
): Promise<number> {
  return endExcept(context, true, userId, keepToken, whom)
}

async function endExcept(
  context: LimiterContext,
  keepsChoices: boolean,
  userId: UserId,
  keepToken: Token,
  whom: EndedByWhom | undefined,
): Promise<number> {
  const { store } = context
  requireUserId(userId)
  const end = endByWhom(whom)
  const endThem = async () =>
    (await store.sessions.endOthers(userId, keepToken, keepsChoices)) ?? Promise.reject(notTheirs())
  return liveOf(context, reportEnds(context, endThem(), end))
}

/** Returns how many of the sessions that have just ended were live, not ended before by a site-wide logout. */
async function liveOf({ store }: LimiterContext, ending: Promise<Ended>): Promise<number> {
  // If it cannot be read, the sessions have ended all the same.
  const reading = store.epoch.current().catch(() => FIRST_EPOCH)
  const ended = await ending
  const epoch = await reading
  return ended.filter(({ record }) => isCurrent(epoch, record)).length
}

/**
 * Ends several sessions of a user in one step, and returns how many were live. Fires `sessmgr_destroy_session` for
 * each.
 *
 * @throws SessmgrError `store_unavailable`; sessions may or may not have ended.
 */
export async function endSeveral(
  context: LimiterContext,
  userId: UserId,
  tokens: readonly Token[],
  whom: EndedByWhom,
): Promise<number> {
  const { sessions } = context.store
  const end = endByWhom(whom)
  const [read, epoch] = await Promise.all([sessions.read(userId), context.store.epoch.current()])
  // Compare whole tokens, because a store may use only a part of each.
  const live = read.sessions.filter(({ record }) => isCurrent(epoch, record) && tokens.includes(record.token))
  if (live.length === 0) return 0
  const ending = sessions.end(
    userId,
    live.map(({ record }) => record.token),
  )
  return (await reportEnds(context, ending, end)).length
}

/**
 * Ends a session that a site-wide logout made stale. Of concurrent calls, only one fires the action, even across
 * processes.
 */
export async function invalidateSession(
  context: LimiterContext,
  userId: UserId,
  sessionId: string,
  current?: number,
): Promise<void> {
  const { sessions } = context.store
  const token = tokenOf(sessionId)
  // The end is also stored for each session, because another process may find the session deleted without knowing about
  // the logout.
  const end = (await context.notes.endOf(token, 'logout_all', current)) ?? { kind: 'logout_all', at: Date.now() }
  const actionsOf: ActionsOf = (ended) =>
    ended.map(({ record }) => ['sessmgr_session_invalidated', record.userId, record.token])
  await reportEnds(context, sessions.end(userId, [token]), end, actionsOf)
}

/**
 * Ends a session whose refresh token was used again, or all sessions of its user. Of concurrent calls, only one ends
 * them and fires the action.
 */
export async function endReused(
  context: LimiterContext,
  userId: UserId,
  token: Token,
  isForAll: boolean,
): Promise<void> {
  const { sessions } = context.store
  const end = { kind: 'reused', at: Date.now() } as const
  if (!isForAll) return void (await reportEnds(context, sessions.end(userId, [token]), end))
  await reportEnds(context, sessions.end(userId), end, (ended) =>
    ended.length > 0 ? allSessionsOf(userId)(ended) : [],
  )
}

/** Ends a bound session that a client without its key has tried to use, once. */
export async function endStolen(
  context: LimiterContext,
  userId: UserId,
  token: Token,
  about: StolenSession,
): Promise<void> {
  const { name } = await deviceName(about.userAgent).catch(() => ({ name: null }))
  const end = { kind: 'stolen', at: Date.now(), by: { device: name, ip: about.ip } } as const
  await reportEnds(context, context.store.sessions.end(userId, [token]), end, (ended) =>
    ended.map(({ record }) => ['sessmgr_session_stolen', record, about]),
  )
}

/** Ends a session that is over although it is registered, once; see `SessionVerdict`. */
export async function endOver(context: LimiterContext, userId: UserId, token: Token, kind: OverKind): Promise<void> {
  const by = ({ record: { actor } }: StoredSession) => actor !== null && { by: { actor, device: null, ip: null } }
  const end = kind === 'max_age' ? endByAge : (one: StoredSession) => ({ kind, at: Date.now(), ...by(one) })
  await reportEnds(context, context.store.sessions.end(userId, [token]), end, () => [])
}

/** Records the use of a session; see `SessionRegistry.touch`. If it has just reached its age, ends it for that reason. */
export async function touchOrEnd(
  context: LimiterContext,
  userId: UserId,
  token: Token,
  ttlMs: number | undefined,
  freshMs?: number,
): Promise<boolean> {
  const isLive = await touchSession(context, userId, token, ttlMs, freshMs)
  const use = isLive ? undefined : await context.store.sessions.useOf(userId, token)
  if (use?.isAged) await endOver(context, userId, token, 'max_age')
  return isLive
}

/** Returns how a session ended that has reached its age. */
export function endByAge({ record: { expiresAt, lastSeenAt, loggedInAt } }: StoredSession): SessionEnd {
  // The age may have been lowered to one that was over before.
  const at = Math.max(expiresAt, lastSeenAt)
  return { kind: 'max_age', at, after: at - loggedInAt }
}

/** Frees the slot of a session that the framework has ended. Resolves to true if the session was still live. */
export async function releaseSession(context: LimiterContext, userId: UserId, token: Token): Promise<boolean> {
  return (await released(context, userId, token)) !== undefined
}

/** Ends a session, and returns it as it was then. Resolves to undefined if it was over. */
async function released({ store, events }: LimiterContext, userId: UserId, token: Token) {
  const [ended, epoch] = await Promise.all([store.sessions.end(userId, [token]), store.epoch.current()])
  const at = Date.now()
  const endOf = (session: SessionRecord) =>
    ({ kind: isCurrent(epoch, session) ? 'signed_out' : 'logout_all', at }) as const
  const deleted = (session: StoredSession): LimiterEvent => ({
    type: 'ended',
    session: { ...session, end: endOf(session.record) },
    isDeleted: true,
  })
  await events.report(ended.map(deleted))
  return ended.find(({ record }) => isCurrent(epoch, record))
}

/**
 * Ends a session that a request gives up. Resolves to undefined if it was over. Otherwise, a login that continues it
 * fails once the result has changed.
 */
export async function giveUpSession(
  context: LimiterContext,
  userId: UserId,
  token: Token,
): Promise<UserEnds | undefined> {
  const { sessions, epoch } = context.store
  // Read first: whatever ends the user's sessions from here on has either ended this one or changes the result.
  const [{ mark }, { generation }] = await Promise.all([sessions.read(userId), epoch.current()])
  const session = await released(context, userId, token)
  return session && { mark, generation, terms: termsOf(session) }
}

/**
 * Reports and returns the sessions that a store has ended. Reports them even if the store then fails, for example
 * because no replica confirmed: a retry would not find them.
 *
 * @param actionsOf Returns the actions to fire before `sessmgr_session_ended`. @default one for each session
 */
export async function reportEnds(
  { events }: LimiterContext,
  ending: Promise<Ended>,
  end: SessionEnd | ((session: StoredSession) => SessionEnd),
  actionsOf: ActionsOf = namedActions,
): Promise<Ended> {
  const endOf = typeof end === 'function' ? end : () => end
  const report = (ended: Ended) =>
    events.report([
      ...asEvents(actionsOf(ended)),
      ...ended.map((session) => ({ type: 'ended', session: { ...session, end: endOf(session) } }) as const),
    ])
  let ended: Ended
  try {
    ended = await ending
  } catch (error) {
    const despite = endedDespite(error)
    if (despite) await report(despite)
    throw error
  }
  await report(ended)
  return ended
}

function namedActions(ended: Ended): readonly AnnouncedAction[] {
  return ended.map(({ record }) => ['sessmgr_destroy_session', record.userId, record.token])
}

/**
 * Returns a function that creates the action for the end of all of a user's sessions, with the id as it was registered.
 */
export function allSessionsOf(userId: UserId): ActionsOf {
  return (ended) => [['sessmgr_destroy_all_sessions', ended[0]?.record.userId ?? userId]]
}

const NAMES = ['by', 'actor', 'device', 'note'] as const satisfies readonly (keyof EndedByWhom)[]
const KINDS = ['user', 'admin', 'app'] as const
/** Longer than any device name, but shorter than nearly every user agent. */
const DEVICE_LENGTH = 64
const NOTE_LENGTH = 200

/**
 * Describes the end of a session by a call such as `sessions.end()`.
 *
 * @throws SessmgrError `invalid_option`, `user_id_missing`.
 */
export function endByWhom(whom: EndedByWhom = {}): SessionEnd {
  requireObject('The last argument of a call that ends sessions', whom)
  requireKnown(whom, NAMES)
  const { by = 'app', actor, device, note } = whom
  if (!KINDS.includes(by)) throw invalidOption(`"by" must be one of ${KINDS.join(', ')}; got ${inWords(by)}`)
  if (actor !== undefined) requireUserId(actor)
  requireText('device', device, DEVICE_LENGTH)
  requireText('note', note, NOTE_LENGTH)
  return {
    kind: by,
    at: Date.now(),
    ...((actor !== undefined || device !== undefined) && {
      by: { ...(actor !== undefined && { actor }), device: device ?? null, ip: null },
    }),
    ...(note !== undefined && { note }),
  }
}

function requireText(name: string, text: unknown, most: number): void {
  if (text === undefined || (typeof text === 'string' && text.length <= most)) return
  throw invalidOption(`"${name}" must be a string of at most ${most} characters`)
}

function noToken(): SessmgrError {
  return invalidOption(
    'end() needs a token, as in request.sessmgr.session.token or sessions.list(), not a session id. Nothing was ended',
  )
}

function notTheirs(): SessmgrError {
  return invalidOption(
    'The session to keep is not a live session of this user. Nothing was ended. Pass request.sessmgr.session.token. ' +
      'If that session has ended, call endAll()',
  )
}
