import { signedOutMeanwhile } from '../../auth/erasures.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { type Logger, logError } from '../../ground/logger.ts'
import { inWords } from '../../ground/option-checks.ts'
import type { UserId } from '../../ground/user-id.ts'
import { filterAtOnce } from '../../hooks/bus.ts'
import type { Hooks } from '../../hooks/hooks.ts'
import type { SessionFilters } from '../../hooks/session-hooks.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import {
  type Epoch,
  isCurrent,
  type Login,
  type LoginTerms,
  type SessionRecord,
  type StoredSession,
  type Token,
} from '../../sessions/session-record.ts'
import { MOST_SESSIONS, type UserEnds, type UserSessions } from '../../sessions/session-registry.ts'
import { justErased } from '../../sessions/user-state.ts'
import type { LimitContext, LimitDecision, LimitStrategy } from '../../strategies/limit-strategy.ts'
import { logoutOldest } from '../../strategies/logout-oldest.ts'
import { unusedActions } from '../../strategies/slots.ts'
import type { ReaderTexts } from '../../texts/texts-for.ts'
import { heldSessions, unlessAway } from '../check-session.ts'
import type { AnnouncedAction } from '../events.ts'
import type { LimiterContext } from '../limiter-context.ts'
import type { LabelGroup, LabelLimits } from './label-group.ts'
import type { LoginAnswer } from './login-option.ts'

/** A login whose user has already proved their identity. */
export interface LoginAttempt {
  readonly userId: UserId
  /** Raw id of the browser's current session. If it is the user's own, the login replaces it. */
  readonly replaces?: string | undefined
  /**
   * Token of the session that was loaded for the request, if it belongs to this user. If that session is over, the
   * login fails.
   */
  readonly continues?: Token | undefined
  /** What the user's ends were when the request gave up its session, if it did. If they have changed, the login fails. */
  readonly since?: UserEnds | undefined
  /** Whether the application has not said that this is a login, so that it may be a new id for a session. */
  readonly isUntold?: boolean | undefined
  /**
   * The live session that the request came with, whether its browser keeps it after the login of another user, and what
   * the ends of its user were when the request gave it up, if it did.
   */
  readonly from?:
    | (Login & { readonly actor?: UserId; readonly stays: boolean; readonly since?: UserEnds | undefined })
    | undefined
  /** The user as the application passed it, for the `login` option. */
  readonly user?: unknown
  /** Returns the request as the framework passes it, for the `login` option. */
  readonly requestOf?: (() => unknown) | undefined
  /** What the caller says about the session, which has precedence over the `login` option. */
  readonly given?: LoginAnswer | undefined
  /** What is decided about the session of the login. @default it has no label, and counts */
  readonly terms?: LoginTerms | undefined
  /** The session to which a user returns who acted as another. The login replaces it. */
  readonly returnsTo?: Token | undefined
  /** Address of the client. @default null */
  readonly ip?: string | null | undefined
  /** User agent of the client. @default null */
  readonly userAgent?: string | null | undefined
  /**
   * Identifies the browser, as in {@link SessionRecord}. The login replaces the user's live sessions in that browser.
   * @default null
   */
  readonly device?: string | null | undefined
  /** Whether the client has sent the cookie of this device. @default false */
  readonly sentDevice?: boolean | undefined
  /**
   * Tokens of the live sessions that the user chose to end. These sessions end if the login is admitted. Unknown tokens
   * are ignored.
   * @default []
   */
  readonly ends?: readonly Token[] | undefined
  /** Whether the caller can let the user choose sessions. If not, `ask` mode refuses the login. @default false */
  readonly canAsk?: boolean | undefined
  /** Warning to log if `ask` mode refuses the login. @default that there is no page for the choice */
  readonly cannotAsk?: string | undefined
  /** Returns the user's texts, for the message of a refused login. @default in English */
  readonly texts?: (() => ReaderTexts) | undefined
}

/** The choice that a user at the limit has to make, in `ask` mode. */
export interface SessionChoice {
  /** How many sessions the user must choose to end. */
  readonly need: number
  /** How many sessions the user may have. */
  readonly maximum: number
  /** The user's live sessions, oldest first. */
  readonly sessions: readonly SessionRecord[]
  /** Address of the page for the choice. Set by `fetchCalls` with `limiter.choice()`. */
  readonly url?: string | undefined
}

/** A decision on a login. */
export interface LoginEvaluation {
  /** What the decision is based on. A commit fails if it has changed. */
  readonly read: UserSessions
  /** The epoch that the decision assumes. */
  readonly epoch: Epoch
  readonly settings: SessionSettings
  /** Whether the `sessmgr_bypass` filter exempts the user. */
  readonly isExempt: boolean
  readonly decision: Omit<LimitDecision, 'actions'> & { readonly actions: readonly AnnouncedAction[] }
  /** Registered sessions that the session store no longer has. */
  readonly lost: readonly Token[]
  /** The user's live sessions in the same browser, which this login replaces. */
  readonly own: readonly Token[]
  /** Live sessions that the user chose to end. */
  readonly chosen: readonly Token[]
  /**
   * The sessions and the limit that the decision is based on. Undefined if the user is exempt and below the registry's
   * bound.
   */
  readonly measured?: LimitContext
  /** The limit that the login has reached, and the mode that decided. */
  readonly reached?: DecidedLimit
}

/** The decision on a login that has reached no limit. */
const ADMIT: LimitDecision = { admit: true, end: [], actions: [] }
const NONE: readonly Token[] = []

/** Values to assume instead of the settings. */
export interface Assumption {
  readonly mode?: string | undefined
  readonly maximum?: number | undefined
}

/**
 * Decides on a login at this moment. Changes nothing.
 *
 * @param ignore Sessions that the login itself replaces.
 * @throws SessmgrError `session_ended` if the session that the login continues is over.
 */
export async function evaluateLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  ignore: readonly Token[],
  assumed: Assumption = {},
): Promise<LoginEvaluation> {
  const { userId, device, continues, since, ends = NONE, canAsk, returnsTo, terms } = attempt
  const counts = terms?.counts !== false
  const { store, hooks, settings, modes, labels } = context
  const [read, epoch, current] = await Promise.all([store.sessions.read(userId), store.epoch.current(), settings.get()])
  if (read.isErased) throw justErased()
  const { sessions } = read
  const isContinued = ({ record }: StoredSession) => record.token === continues && isCurrent(epoch, record)
  if (continues !== undefined && !sessions.some(isContinued)) throw signedOutMeanwhile()
  if (since && (since.mark !== read.mark || since.generation !== epoch.generation)) throw signedOutMeanwhile()
  const isOfBrowser = ({ record }: StoredSession) => record.device === device && record.counts === counts
  const isOwn = (one: StoredSession) =>
    isCurrent(epoch, one.record) && ((device && isOfBrowser(one)) || one.record.token === returnsTo)
  const own = device || returnsTo !== undefined ? tokensOf(sessions.filter(isOwn)) : NONE
  const replaced = own.length === 0 ? ignore : [...ignore, ...own]
  const isLeft = ({ record }: StoredSession) =>
    isCurrent(epoch, record) && (replaced.length === 0 || !replaced.includes(record.token))
  const all = sessions.filter(isLeft)
  const uncounted = all.filter(({ record }) => !record.counts)
  const live = uncounted.length === 0 ? all : all.filter(({ record }) => record.counts)
  const chosen = ends.length === 0 ? NONE : tokensOf(live).filter((token) => ends.includes(token))
  const exempt = verdictOf(hooks, 'sessmgr_bypass', false, userId)
  const isExempt = !counts || (typeof exempt === 'boolean' ? exempt : await exempt)
  const before = { read, epoch, settings: current, isExempt, own, chosen }
  if (isExempt && all.length < MOST_SESSIONS) return { ...before, decision: ADMIT, lost: NONE }

  const wanted = isExempt ? MOST_SESSIONS : (assumed.maximum ?? settings.maximumOf(userId, current))
  const maximum = Math.min(typeof wanted === 'number' ? wanted : await wanted, MOST_SESSIONS)
  const group = labels && !isExempt ? await groupOf(labels, attempt, live, context.logger) : undefined
  // A session that the session store has lost must not count. Below the limit, lost sessions make no difference unless
  // a subscriber sets its own limit.
  const isAnyCount = hooks.hasFilter('sessmgr_reached_limit') || (group && group.tokens.length >= group.maximum)
  const enough = isAnyCount ? live.length : maximum
  const { held, lost } = live.length >= enough ? await verify(context, live, enough) : { held: live, lost: NONE }
  const records = recordsOf(held)
  const strategy = modes.strategyOf(assumed.mode ?? current.logic)
  const measured: LimitContext = {
    userId,
    maximum,
    sessions: records,
    // Do not compare tokens needlessly, because reading a token may compute it.
    chosen: chosen.length === 0 ? [] : records.filter(({ token }) => chosen.includes(token)),
    neverUsed: neverUsedOf(held, attempt),
    others: [],
    ...idleTime(context, current, read),
  }
  const byLimits = await decideByLimits(
    strategy,
    measured,
    group,
    (count) => !isExempt && verdictOf(hooks, 'sessmgr_reached_limit', count >= maximum, userId, count),
  )
  const isReportedOnly = byLimits !== undefined && !(await isEnforced(context, current.enforce, userId))
  const inForce = isReportedOnly ? undefined : byLimits
  const reached = decideByBound(strategy, measured, inForce?.decision ?? ADMIT, recordsOf(uncounted)) ?? byLimits
  if (!reached) return { ...before, decision: ADMIT, lost, measured }
  const decided = { ...reached, mode: strategy }
  const evaluation = { ...before, lost, measured, reached: decided }
  if (isReportedOnly && reached === byLimits) {
    return { ...evaluation, decision: { ...ADMIT, actions: reportOf(decided, canAsk) } }
  }
  return { ...evaluation, decision: reached.decision }
}

/** Loads the code on demand, because few applications have limits per label. */
async function groupOf(
  labels: LabelLimits,
  { userAgent = null, ip = null, device = null, terms }: LoginAttempt,
  live: readonly StoredSession[],
  logger: Logger,
) {
  const { labelGroup } = await import('./label-group.ts')
  return labelGroup(labels, { userAgent, ip, device, label: terms?.label ?? null }, recordsOf(live), logger)
}

/**
 * Checks which sessions the session store still has, newest first. Stops once it has found `enough`, and assumes that
 * the others exist.
 */
async function verify(context: LimiterContext, sessions: readonly StoredSession[], enough: number) {
  const youngestFirst = sessions.toReversed()
  const answers = await unlessAway(context, heldSessions(context.hostSessions, youngestFirst, enough))
  const lost = tokensOf(youngestFirst.filter((_, index) => answers[index] === false))
  return { held: lost.length === 0 ? sessions : sessions.filter(({ record }) => !lost.includes(record.token)), lost }
}

/**
 * Returns the sessions of the browser that logs in that no request has come with since their login. A browser that has
 * sent the cookie of its device replaces its sessions anyway. Programs are never the same browser.
 */
function neverUsedOf(sessions: readonly StoredSession[], attempt: LoginAttempt): readonly SessionRecord[] {
  const { ip, userAgent, sentDevice } = attempt
  if (sentDevice || !ip || !userAgent?.startsWith('Mozilla/')) return []
  const isOfBrowser = ({ takenUp, record }: StoredSession) =>
    !takenUp && record.ip === ip && record.userAgent === userAgent
  return recordsOf(sessions.filter(isOfBrowser))
}

function tokensOf(sessions: readonly StoredSession[]): readonly Token[] {
  return sessions.map(({ record }) => record.token)
}

function recordsOf(sessions: readonly StoredSession[]): readonly SessionRecord[] {
  return sessions.map(({ record }) => record)
}

/**
 * Applies a filter that must return true or false. Rejects any other result, so that a faulty filter cannot disable the
 * limit by accident.
 *
 * @throws SessmgrError `hook_failed`, `hook_timeout`.
 */
function verdictOf<Name extends 'sessmgr_bypass' | 'sessmgr_reached_limit' | 'sessmgr_enforce'>(
  hooks: Hooks,
  name: Name,
  start: boolean,
  ...parameters: SessionFilters[Name]['parameters']
): boolean | Promise<boolean> {
  const verdict = filterAtOnce(hooks, name, start, ...parameters)
  return verdict instanceof Promise ? verdict.then((found) => requireBoolean(name, found)) : verdict
}

function requireBoolean(name: string, verdict: unknown): boolean {
  if (typeof verdict === 'boolean') return verdict
  const message = `The "${name}" filter must return true or false; it returned ${inWords(verdict)}.`
  throw new SessmgrError('hook_failed', message)
}

/** How many updates of its last use a session must have missed before it counts as unused. */
const MISSED_UPDATES = 3

/** Returns the times by which modes recognize idle sessions. */
function idleTime(
  { touchEveryMs, outage }: LimiterContext,
  { idle_release }: SessionSettings,
  { now }: UserSessions,
): Pick<LimitContext, 'now' | 'idleAfterMs'> {
  const leastMs = MISSED_UPDATES * touchEveryMs
  // A session in use may seem idle until its next uses have been recorded.
  const isReleased = idle_release > 0 && performance.now() - outage.at >= leastMs
  return { now, idleAfterMs: isReleased ? Math.max(idle_release * 1000, leastMs) : Number.POSITIVE_INFINITY }
}

/** A limit that a login has reached, and what the mode decided about it. */
export interface ReachedLimit {
  /** What the mode based its decision on. Contains only sessions that count toward the limit. */
  readonly context: LimitContext
  /** The label that the limit is for. Undefined if it is the limit for all sessions. */
  readonly label?: string
  readonly decision: LimitDecision
}

/**
 * Lets a mode decide first by the limit for the login's label, and then by the limit for all sessions. Sessions that
 * the first decision ends no longer count. Resolves to undefined if neither limit is reached.
 *
 * @param context All live sessions of the user, and how many the user may have.
 * @param group Sessions with the label of the login, if the label has a limit.
 * @param isReached Checks whether this many sessions reach the limit for all sessions.
 */
async function decideByLimits(
  mode: LimitStrategy,
  context: LimitContext,
  group: LabelGroup | undefined,
  isReached: (count: number) => boolean | Promise<boolean>,
): Promise<ReachedLimit | undefined> {
  const first = group && decideInGroup(mode, context, group)
  if (first && !first.decision.admit) return first
  const rest = first ? without(context, first.decision.end) : context
  if (!(await isReached(rest.sessions.length))) return first
  const others = group ? rest.sessions.filter(({ token }) => !group.tokens.includes(token)) : []
  const all = { ...rest, others }
  const decision = mode.decide(all)
  return { context: all, decision: first && decision.admit ? joined(first.decision, decision) : decision }
}

/**
 * Lets a mode decide again if a login is admitted but the registry has no room for its session. Returns undefined if
 * there is room. Sessions that do not count end first.
 *
 * The registry's bound applies even to exempt users, and even while the limit is not enforced.
 */
function decideByBound(
  mode: LimitStrategy,
  context: LimitContext,
  first: LimitDecision,
  uncounted: readonly SessionRecord[],
): ReachedLimit | undefined {
  const excess = first.admit ? excessOf(context, first.end) + uncounted.length : 0
  if (excess <= 0) return undefined
  const spare = uncounted.slice(0, excess)
  const ending = { admit: true, end: spare, actions: unusedActions(spare) }
  const full = { ...context, maximum: MOST_SESSIONS }
  if (spare.length === excess) return { context: full, decision: joined(first, ending) }
  const decision = mode.decide(full)
  // The application's own mode may end too few sessions.
  const isEnough = !decision.admit || excessOf(full, decision.end) <= 0
  const forced = isEnough ? decision : logoutOldest.decide(full)
  return { context: full, decision: forced.admit ? joined(forced, ending) : forced }
}

/** Returns for how many sessions the registry has no room, with the new one. */
function excessOf({ sessions, chosen }: LimitContext, end: readonly SessionRecord[]): number {
  const ending = new Set([...chosen, ...end].map(({ token }) => token))
  return sessions.length - ending.size + 1 - MOST_SESSIONS
}

function decideInGroup(mode: LimitStrategy, all: LimitContext, group: LabelGroup): ReachedLimit | undefined {
  const { label, maximum, tokens } = group
  const isOther = ({ token }: SessionRecord) => !tokens.includes(token)
  const context = { ...without(all, all.sessions.filter(isOther)), maximum }
  return context.sessions.length < maximum ? undefined : { context, label, decision: mode.decide(context) }
}

function without(context: LimitContext, left: readonly SessionRecord[]): LimitContext {
  const rest = (list: readonly SessionRecord[]) => list.filter((session) => !left.includes(session))
  const { sessions, chosen, neverUsed } = context
  return { ...context, sessions: rest(sessions), chosen: rest(chosen), neverUsed: rest(neverUsed) }
}

/** Joins two decisions of one mode that both admit the login. */
function joined(first: LimitDecision, second: LimitDecision): LimitDecision {
  return {
    admit: true,
    end: [...first.end, ...second.end],
    kind: first.kind ?? second.kind,
    actions: [...first.actions, ...second.actions],
  }
}

/** Checks whether the limit is enforced for a user. If the filter fails, the limit stays on. */
export async function isEnforced(
  { hooks, logger }: Pick<LimiterContext, 'hooks' | 'logger'>,
  setting: boolean,
  userId: UserId,
): Promise<boolean> {
  try {
    return await verdictOf(hooks, 'sessmgr_enforce', setting, userId)
  } catch (error) {
    logError(logger, error as SessmgrError)
    return true
  }
}

/** A limit that a login has reached, and the mode that decided. */
export type DecidedLimit = ReachedLimit & { readonly mode: LimitStrategy }

/** Describes a limit that a login has reached, for actions. */
export function limitOf({ mode, label, context: { maximum, sessions } }: DecidedLimit) {
  return { mode: mode.id, maximum, live: sessions.length, ...(label !== undefined && { label }) }
}

/**
 * Returns the action that reports a decision that was not carried out, or no action if the decision would have changed
 * nothing.
 */
function reportOf(limit: DecidedLimit, canAsk = false): readonly AnnouncedAction[] {
  const { admit, end, choose } = limit.decision
  if (admit && end.length === 0) return []
  const refusal = choose !== undefined && canAsk ? 'ask' : 'refuse'
  const tokens = end.map(({ token }) => token)
  return [['sessmgr_would_limit', limit.context.userId, { ...limitOf(limit), would: admit ? 'end' : refusal, tokens }]]
}
