import { isCurrent, type NewSession, type StoredSession, type Token, tokenOf } from '../../sessions/session-record.ts'
import { type CommitResult, MOST_SESSIONS } from '../../sessions/session-registry.ts'
import type { StateChange } from '../../sessions/user-state.ts'
import type { LimiterContext } from '../limiter-context.ts'
import type { LoginAttempt, LoginEvaluation } from './evaluate-login.ts'

/** The new session of a login. */
export interface EstablishedSession extends Pick<NewSession, 'sessionId' | 'ttlMs' | 'takenUp' | 'provedAt'> {
  /** Undoes the session, as if the login had not happened. */
  revert(): Promise<void>
}

/** A login that the registry has committed. */
export type Committed = Extract<CommitResult, { readonly committed: true }>

/**
 * Registers the session of a login and ends others, as decided. Resolves to undefined if anything stored about the user
 * has changed since.
 *
 * The epoch is read in the turn of the write. If a site-wide logout has come first, moves the session to its generation.
 * If that fails, the session stays stale, as if the logout had come later.
 */
export async function commitLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  { sessionId, ttlMs, takenUp, provedAt }: EstablishedSession,
  evaluation: LoginEvaluation,
): Promise<Committed | undefined> {
  const { userId, ip = null, userAgent = null, device = null, terms } = attempt
  const { read, epoch: assumed, decision, lost, chosen, settings } = evaluation
  const { sessions, epoch } = context.store
  const age = terms?.maxAgeMs ?? context.settings.ageAtLogin(userId, settings, () => labelOfLogin(context, attempt))
  const maxAgeMs = typeof age === 'number' ? age : await age
  // Some frameworks keep the session id at login. That session must not be ended.
  const left = replacedBy(attempt, evaluation).filter((token) => token !== tokenOf(sessionId))
  const aged = read.aged.map(({ record }) => record.token)
  const leaving = [...decision.end.map(({ token }) => token), ...chosen, ...lost, ...left, ...aged]
  const end = [...leaving, ...staleBeyondBound(evaluation, leaving)]
  const bound = boundBefore(attempt, evaluation)
  const session = { sessionId, ttlMs, ip, userAgent, device, takenUp, provedAt, ...terms, maxAgeMs, bound }
  const admit = { ...session, generation: assumed.generation }
  const [result, current] = await Promise.all([
    sessions.commit(userId, read, { admit, end }),
    epoch.current().catch(() => assumed),
  ])
  if (!result.committed) return undefined
  if (isCurrent(current, result.admitted.record)) return result
  const { token } = result.admitted.record
  const admitted = await sessions.changeState(userId, stampNewest(token, current.generation)).catch(() => undefined)
  return admitted ? { ...result, admitted } : result
}

/**
 * Returns the key to which the session is bound that a login of the same user continues. Otherwise, whoever has copied
 * a cookie and its proof could sign in again, and bind the new session to another device.
 */
function boundBefore({ userId, continues, from, terms }: LoginAttempt, { read }: LoginEvaluation): string | null {
  const before = read.sessions.find(({ record }) => record.token === continues)
  const left = String(from?.userId) === String(userId) ? from?.since : undefined
  return terms?.bound ?? before?.record.bound ?? left?.terms.bound ?? null
}

/** Returns the label of a login: the one that it was given or, with `limits`, the one that it looks like. */
export async function labelOfLogin(
  { labels }: LimiterContext,
  { ip = null, userAgent = null, device = null, terms }: LoginAttempt,
): Promise<string | undefined> {
  if (!labels || terms?.label) return terms?.label ?? undefined
  const { labelsOf } = await import('./label-group.ts')
  return (await labelsOf(labels, [{ ip, userAgent, device, label: null }]))[0]
}

/**
 * Moves the newest session to another generation, unless its token is another one. While a login's session is the
 * newest, no later login has been admitted without counting it, so the limit still holds.
 */
function stampNewest(token: Token, generation: number): StateChange<StoredSession | undefined> {
  return ({ sessions }) => {
    const newest = sessions.at(-1)
    if (newest?.record.token !== token) return { result: undefined }
    const stamped = { ...newest, record: { ...newest.record, generation } }
    return { result: stamped, next: { sessions: sessions.with(-1, stamped) } }
  }
}

/**
 * Returns the stale sessions that must end so that the registry has room for a new one. Otherwise, the registry would
 * end the oldest sessions, which may be live.
 */
function staleBeyondBound({ read: { sessions }, epoch }: LoginEvaluation, end: readonly Token[]): readonly Token[] {
  if (sessions.length < MOST_SESSIONS) return []
  const left = sessions.filter(({ record }) => !end.includes(record.token))
  const stale = left.filter(({ record }) => !isCurrent(epoch, record)).map(({ record }) => record.token)
  return stale.slice(0, Math.max(0, left.length + 1 - MOST_SESSIONS))
}

/** Returns the tokens of the browser's own sessions, which a login replaces. */
export function replacedBy({ replaces }: LoginAttempt, { own }: LoginEvaluation): readonly Token[] {
  return replaces === undefined ? own : [tokenOf(replaces), ...own]
}
