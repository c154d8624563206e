import { signedOutMeanwhile } from '../../auth/erasures.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import { type Token, tokenOf } from '../../sessions/session-record.ts'
import { type CommitResult, type LoginAtOnce, MOST_SESSIONS } from '../../sessions/session-registry.ts'
import { allow } from '../../strategies/allow.ts'
import type { LimitStrategy } from '../../strategies/limit-strategy.ts'
import { logoutOldest } from '../../strategies/logout-oldest.ts'
import type { LimiterContext } from '../limiter-context.ts'
import { ADMIT, type LoginAttempt, type LoginEvaluation } from './evaluate-login.ts'

/**
 * Maximum length of an address, longer than any real one. Clients can forge it if too many proxies are trusted.
 */
const ADDRESS_LENGTH = 64
const USER_AGENT_LENGTH = 512

/** The new session of a login. */
export interface EstablishedSession {
  readonly sessionId: string
  /** Milliseconds until the session expires. */
  readonly ttlMs: number
  /** Lifetime in milliseconds once the response has saved the session. @default ttlMs */
  readonly lifeMs?: number
  /** Called if the registry has decided on the login by itself. */
  onAtOnce?(): void
  /** Undoes the session, as if the login had not happened. */
  revert(): Promise<void>
}

/** A login that the registry has committed. */
export type Committed = Extract<CommitResult, { readonly committed: true }>

/**
 * Registers the session of a login and ends others, as decided. Resolves to undefined if the user's sessions have
 * changed since.
 */
export async function commitLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  { sessionId, ttlMs }: EstablishedSession,
  evaluation: LoginEvaluation,
  marks: readonly string[] | undefined,
): Promise<Committed | undefined> {
  const { userId, continues, device } = attempt
  const { version, generation, decision, lost, chosen, unlessUsedWithin } = evaluation
  // Some frameworks keep the session id at login. That session must not be ended.
  const left = replacedBy(attempt, evaluation).filter((token) => token !== tokenOf(sessionId))
  const leaving = [...decision.end.map(({ token }) => token), ...chosen, ...lost, ...left]
  const end = [...leaving, ...staleBeyondBound(evaluation, leaving)]
  const admit = {
    sessionId,
    ttlMs,
    ...clientOf(attempt),
    device: device ?? null,
    generation,
  }
  const result = await context.store.sessions.commit(userId, version, {
    admit,
    end,
    continues,
    unlessUsedWithin,
    marks,
  })
  if (!result.committed && result.isOver) throw signedOutMeanwhile()
  return result.committed ? result : undefined
}

/**
 * Returns the stale sessions that must end so that the registry has room for a new one. Otherwise, the registry would
 * end the oldest sessions, which may be live.
 */
function staleBeyondBound({ registered, generation }: LoginEvaluation, end: readonly Token[]): readonly Token[] {
  if (registered.length < MOST_SESSIONS) return []
  const left = registered.filter(({ record }) => !end.includes(record.token))
  const stale = left.filter(({ record }) => record.generation < generation).map(({ record }) => record.token)
  return stale.slice(0, Math.max(0, left.length + 1 - MOST_SESSIONS))
}

/** Returns the tokens of the browser's own sessions, which a login replaces. */
export function replacedBy({ replaces }: LoginAttempt, { own }: LoginEvaluation): readonly Token[] {
  return replaces === undefined ? own : [tokenOf(replaces), ...own]
}

/** Returns the address and user agent of a login, cut to their maximum lengths. */
export function clientOf({ ip, userAgent }: LoginAttempt) {
  return { ip: ip?.slice(0, ADDRESS_LENGTH) ?? null, userAgent: userAgent?.slice(0, USER_AGENT_LENGTH) ?? null }
}

/** The modes that the registry can apply, each with the sessions that the mode ends at the limit. */
const ENDS = new Map<unknown, LoginAtOnce['end']>([
  [allow, 'all'],
  [logoutOldest, 'oldest'],
])
/** Filters that may change the decision. The registry cannot run them. */
const FILTERS = ['sessmgr_bypass', 'sessmgr_reached_limit', 'sessmgr_enforce', 'sessmgr_maximum'] as const

/** Checks whether the registry can decide on a login by itself, with these settings. */
export function isForRegistry(
  { store, hostSessions, hooks, modes, labels, facts }: LimiterContext,
  { replaces, continues, device, ends = [] }: LoginAttempt,
  settings: SessionSettings | undefined,
): settings is SessionSettings {
  if (!settings || !store.sessions.admitAtOnce || store.sessions.looksForMarks !== true || labels || facts.directory)
    return false
  if (replaces !== undefined || continues !== undefined || device || ends.length > 0) return false
  const { logic, enforce, idle_release } = settings
  if (!enforce || idle_release > 0 || !ENDS.has(modes.strategyOf(logic))) return false
  // Without the prefix, the registry would also count sessions that the session store has lost.
  if (hostSessions.prefix === undefined) return false
  return !FILTERS.some((name) => hooks.hasFilter(name))
}

/** A login that the registry has decided on by itself. */
export interface LoginDecided {
  readonly evaluation: LoginEvaluation
  readonly committed: Committed
}

/** Lets the registry decide on a login and commit it. If it cannot, changes nothing and resolves to undefined. */
export async function commitAtOnce(
  context: LimiterContext,
  attempt: LoginAttempt,
  { sessionId, ttlMs }: EstablishedSession,
  settings: SessionSettings,
): Promise<LoginDecided | undefined> {
  if (!isForRegistry(context, attempt, settings)) return undefined
  const { store, hostSessions, erasures, modes } = context
  const { userId } = attempt
  const mode = modes.strategyOf(settings.logic)
  const [end, hostPrefix] = [ENDS.get(mode), hostSessions.prefix]
  if (!end || hostPrefix === undefined) return undefined
  const admit = { sessionId, ttlMs, ...clientOf(attempt), device: null }
  const bound = context.settings.maximumOf(userId, settings)
  const maximum = typeof bound === 'number' ? bound : await bound
  const marks = await erasures.keysOf(userId)
  const committed = await store.sessions.admitAtOnce?.(userId, { admit, maximum, end, hostPrefix, marks })
  return committed && { committed, evaluation: evaluationOf(committed, settings, mode) }
}

/** Describes what the registry has decided, like {@link evaluateLogin}. */
function evaluationOf({ admitted, ended }: Committed, settings: SessionSettings, mode: LimitStrategy): LoginEvaluation {
  const { userId, generation, createdAt } = admitted.record
  const sessions = ended.map(({ record }) => record)
  const limit = {
    userId,
    sessions,
    maximum: 1,
    others: [],
    chosen: [],
    now: createdAt,
    idleAfterMs: Number.POSITIVE_INFINITY,
  }
  return {
    version: '',
    generation,
    settings,
    isExempt: false,
    decision: sessions.length === 0 ? ADMIT : mode.decide(limit),
    lost: [],
    own: [],
    chosen: [],
    registered: ended,
    readAt: createdAt,
  }
}
