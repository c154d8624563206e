import type { UserId } from '../ground/user-id.ts'
import type { SessionVerdict } from '../limiter/check-session.ts'
import { type Token, tokenOf } from '../sessions/session-record.ts'
import { endedState } from './ended-state.ts'
import type { GuardContext, LoginSession } from './guard-context.ts'
import type { EndedState, HostSessionData } from './host-types.ts'
import { markIn } from './marker-place.ts'
import type { SeenSession } from './memory/seen-sessions.ts'
import { readMarker, type SessionMarker } from './session-marks.ts'

/** The result of checking a stored session. */
export interface Inspected {
  /** The data to continue with, or undefined if the session has ended or never existed. */
  readonly data?: HostSessionData
  readonly session?: LoginSession
  /** Whether the login session has no valid marker yet, so that the caller must mark it. */
  readonly needsMarker?: boolean
  /** How the session ended, if it has ended. */
  readonly ended?: EndedState
}

/** Checks whether a session has neither a marker nor a user, so that there is nothing to ask. Does not throw. */
export function isVisitors(guard: GuardContext, data: HostSessionData): boolean {
  try {
    return markIn(data) === undefined && guard.options.sessionUser(data) === undefined
  } catch {
    return false
  }
}

/** The user of a session, and whether it is live. */
interface Judgement {
  readonly userId: UserId
  readonly verdict: SessionVerdict
  readonly needsMarker: boolean
}

/**
 * Checks a session that was read. If it is over, removes it from the store.
 *
 * @param early What the limiter has already reported about it.
 * @param request The request that it was read for, for stores that receive it.
 */
export async function inspectSession(
  guard: GuardContext,
  sessionId: string,
  data: HostSessionData,
  known: SeenSession | undefined,
  early?: SessionVerdict,
  request?: object,
): Promise<Inspected> {
  const token = known?.token ?? tokenOf(sessionId)
  const marker = guard.marks.read(data, token) ?? (await readAgain(guard, data, token))
  const judged = (marker && (await judge(guard, marker, early))) ?? (await adopt(guard, sessionId, data))
  if (!judged) return { data }
  const { userId, verdict, needsMarker } = judged
  if (verdict.live) {
    if (known?.userId !== userId) guard.seen.note(sessionId, userId, token)
    return { data, session: { userId, token }, needsMarker }
  }
  guard.seen.delete(sessionId)
  const { reason } = verdict
  const ended = endedState(guard.limiter, token, reason)
  if (reason === 'logout_all') await guard.limiter.invalidate(userId, sessionId)
  else await guard.calls.destroy(sessionId, request)
  guard.endings.set(sessionId, { reason })
  guard.endings.set(sessionId, await ended)
  return { ended: await ended }
}

/** Reads a marker after reloading the secrets and the registry of the site. */
async function readAgain(guard: GuardContext, data: HostSessionData, token: Token): Promise<SessionMarker | undefined> {
  const { marks } = guard
  await guard.prepare(data, token)
  if (!readMarker(data, token)) return undefined
  const marker = marks.read(data, token)
  if (marker) return marker
  // Another process may have noticed first that the registry has changed.
  await marks.hasChanged()
  return marks.read(data, token)
}

/** Checks a session with a marker. Resolves to undefined if the registry that signed the marker no longer exists. */
async function judge(
  { marks, limiter }: GuardContext,
  marker: SessionMarker,
  early?: SessionVerdict,
): Promise<Judgement | undefined> {
  const { userId, token } = marker
  const needsMarker = !marks.isNewest(marker)
  const verdict = early ?? (await limiter.check(userId, token))
  const isEnded = !verdict.live && verdict.reason === 'ended'
  // An uninstalled registry cannot know that a session has ended, so its users stay signed in.
  return isEnded && (await marks.hasChanged()) ? undefined : { userId, verdict, needsMarker }
}

/** Adopts a session that this registry does not know. Resolves to undefined if it has no signed-in user. */
async function adopt(guard: GuardContext, sessionId: string, data: HostSessionData): Promise<Judgement | undefined> {
  const userId = guard.options.sessionUser(data)
  if (userId === undefined) return undefined
  const session = { sessionId, ttlMs: guard.lives.ttlOf(data), ip: null, userAgent: null, device: null }
  return { userId, verdict: await guard.limiter.adopt(userId, session), needsMarker: true }
}
