import type { UserId } from '../ground/user-id.ts'
import type { SessionVerdict } from '../limiter/check-session.ts'
import { type Token, tokenOf } from '../sessions/token.ts'
import type { GuardContext, LoginSession } from './guard-context.ts'
import type { HostSessionData, SignedOutReason } from './host-types.ts'
import type { SeenSession } from './memory/seen-sessions.ts'
import { readMarker, type SessionMarker } from './session-marks.ts'
import { sessionTtl } from './session-ttl.ts'

/** What a session in the store turned out to be. */
export interface Inspected {
  /** The data to go on with; undefined when there is no session, or no longer. */
  readonly data?: HostSessionData
  readonly session?: LoginSession
  /** Whether the data of a login session has no valid marker yet: whoever goes on with it has to mark it. */
  readonly needsMarker?: boolean
  readonly ended?: SignedOutReason
}

/** Whose a session is, and what it is worth. */
interface Judgement {
  readonly userId: UserId
  readonly verdict: SessionVerdict
  readonly needsMarker: boolean
}

/**
 * Judges a session that was read. One that is over is removed from the store.
 *
 * @param early What the limiter has said of it already, by what this process knew.
 */
export async function inspectSession(
  guard: GuardContext,
  sessionId: string,
  data: HostSessionData,
  known: SeenSession | undefined,
  early?: SessionVerdict,
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
  if (verdict.reason === 'logout_all') await guard.limiter.invalidate(userId, sessionId)
  else await guard.calls.destroy(sessionId)
  guard.reasons.set(sessionId, verdict.reason)
  return { ended: verdict.reason }
}

/** Reads a marker for which this process has yet to learn the secret of the site, or the registry of now. */
async function readAgain(guard: GuardContext, data: HostSessionData, token: Token): Promise<SessionMarker | undefined> {
  const { marks } = guard
  await guard.prepare(data, token)
  if (!readMarker(data, token)) return undefined
  const marker = marks.read(data, token)
  if (marker) return marker
  // Another process may have learned before this one that the registry is another.
  await marks.hasChanged()
  return marks.read(data, token)
}

/** Judges a session with a marker; undefined when the registry that signed it has been forgotten. */
async function judge(
  { marks, limiter }: GuardContext,
  marker: SessionMarker,
  early?: SessionVerdict,
): Promise<Judgement | undefined> {
  const { userId, token } = marker
  const needsMarker = !marks.isNewest(marker)
  const verdict = early ?? (await limiter.check(userId, token))
  const isEnded = !verdict.live && verdict.reason === 'ended'
  // A registry that was uninstalled knows nothing of the session's end: nobody is signed out for that.
  return isEnded && (await marks.hasChanged()) ? undefined : { userId, verdict, needsMarker }
}

/** Takes over a session that this registry does not know; undefined when nobody is signed in with it. */
async function adopt(guard: GuardContext, sessionId: string, data: HostSessionData): Promise<Judgement | undefined> {
  const userId = guard.options.sessionUser(data)
  if (userId === undefined) return undefined
  const session = { sessionId, ttlMs: sessionTtl(data), ip: null, userAgent: null }
  return { userId, verdict: await guard.limiter.adopt(userId, session), needsMarker: true }
}
