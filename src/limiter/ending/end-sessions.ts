import type { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { inWords, requireKnown, requireObject } from '../../ground/option-checks.ts'
import { requireUserId, type UserId } from '../../ground/user-id.ts'
import type { EndedByWhom, SessionEnd } from '../../sessions/session-end.ts'
import type { SessionRecord, StoredSession } from '../../sessions/session-record.ts'
import { type Token, tokenOf } from '../../sessions/token.ts'
import { endedDespite } from '../../sessions/unconfirmed-end.ts'
import type { AnnouncedAction } from '../activity-log.ts'
import { isRegistered } from '../check-session.ts'
import type { LimiterContext } from '../limiter-context.ts'

/**
 * Follows up on sessions that a store has ended: stores why they ended, closes their open connections, deletes them from
 * the session store, and fires the actions.
 *
 * The order matters: a request that finds a session deleted must also find the note, and so must a client whose
 * connection is closed. The follow-up also runs if the store fails after it has ended sessions, for example without a
 * replica's confirmation, because a retry would not find them.
 *
 * @param actionsOf Returns the actions to fire before `sessmgr_session_ended`.
 */
export async function followUpEnd(
  { notes, facts, discard }: LimiterContext,
  ending: PromiseLike<readonly StoredSession[]> | readonly StoredSession[],
  endOf: (session: SessionRecord) => SessionEnd,
  actionsOf: (ended: readonly StoredSession[]) => readonly AnnouncedAction[],
): Promise<readonly StoredSession[]> {
  const followUp = async (ended: readonly StoredSession[]) => {
    await notes.remember(ended, endOf)
    facts.endConnections(ended, endOf)
    await discard(ended)
    facts.report([...actionsOf(ended), ...endedActions(ended, endOf)])
    return ended
  }
  try {
    return await followUp(await ending)
  } catch (error) {
    const ended = endedDespite(error)
    if (ended) await followUp(ended)
    throw error
  }
}

/** Returns the actions that report specific sessions. */
export function namedActions(ended: readonly StoredSession[]): readonly AnnouncedAction[] {
  return ended.map(({ record }) => ['sessmgr_destroy_session', record.userId, record.token])
}

/** Returns the actions that report the end of sessions. */
export function endedActions(
  ended: readonly StoredSession[],
  endOf: (session: SessionRecord) => SessionEnd,
): readonly AnnouncedAction[] {
  return ended.map(({ record }) => ['sessmgr_session_ended', record, endOf(record)])
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

type Ended = readonly StoredSession[]

/**
 * Returns the function that ends all sessions of a user except one.
 *
 * @param carryOut Calls the function that it receives, which ends the sessions.
 */
export function endOthers(
  context: LimiterContext,
  carryOut: (userId: UserId, end: () => Promise<Ended>) => Promise<Ended>,
): (userId: UserId, keepToken: Token, whom?: EndedByWhom) => Promise<number> {
  const { store } = context
  return async (userId, keepToken, whom) => {
    requireUserId(userId)
    const end = endByWhom(whom)
    if (!(await isRegistered(store, userId, keepToken))) throw notTheirs()
    const ending = carryOut(
      userId,
      async () => (await store.sessions.endOthers(userId, keepToken)) ?? Promise.reject(notTheirs()),
    )
    return (await followUpEnd(context, ending, () => end, namedActions)).length
  }
}

function notTheirs(): SessmgrError {
  return invalidOption(
    'The session to keep is not a live session of this user; nothing was ended. Pass request.sessmgr.session.token. ' +
      'If that session has ended, call endAll()',
  )
}

/** Frees the slot of a session that the framework has ended. Resolves to true if the session was live until then. */
export async function releaseSession({ store, facts }: LimiterContext, userId: UserId, token: Token): Promise<boolean> {
  const [ended, current] = await Promise.all([store.sessions.end(userId, [token]), store.epoch.current()])
  const isCurrent = ({ generation }: SessionRecord) => generation >= current
  const at = Date.now()
  const endOf = (session: SessionRecord): SessionEnd => ({ kind: isCurrent(session) ? 'signed_out' : 'logout_all', at })
  facts.endConnections(ended, endOf)
  facts.report(endedActions(ended, endOf))
  return ended.some(({ record }) => isCurrent(record))
}

/**
 * Ends several sessions of a user in one step, and returns how many were live until then. Fires `sessmgr_destroy_session`
 * for each.
 *
 * @throws SessmgrError `store_unavailable`; sessions may or may not have ended.
 */
export async function endSeveral(
  context: LimiterContext,
  userId: UserId,
  tokens: readonly Token[],
  whom: EndedByWhom,
): Promise<number> {
  const { sessions, epoch } = context.store
  const end = endByWhom(whom)
  const [read, generation] = await Promise.all([sessions.read(userId), epoch.current()])
  // Compare whole tokens, because a store may use only a part of each.
  const live = read.sessions.filter(({ record }) => record.generation >= generation && tokens.includes(record.token))
  if (live.length === 0) return 0
  const ending = sessions.end(
    userId,
    live.map(({ record }) => record.token),
  )
  return (await followUpEnd(context, ending, () => end, namedActions)).length
}

/**
 * Ends a session that a site-wide logout made stale. Exactly one call per session fires the action, even across
 * processes.
 */
export async function invalidateSession(context: LimiterContext, userId: UserId, sessionId: string): Promise<void> {
  const token = tokenOf(sessionId)
  const { store, notes } = context
  // Also stored for each session, because another process may find it deleted without knowing that the logout has ended
  // it.
  const end = (await notes.endOf(token, 'logout_all')) ?? { kind: 'logout_all', at: Date.now() }
  const actionsOf = (ended: readonly StoredSession[]): readonly AnnouncedAction[] =>
    ended.map(({ record }) => ['sessmgr_session_invalidated', record.userId, record.token])
  await followUpEnd(context, store.sessions.end(userId, [token]), () => end, actionsOf)
}
