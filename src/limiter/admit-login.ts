import { setTimeout as sleep } from 'node:timers/promises'
import { signedOutMeanwhile } from '../auth/erasures.ts'
import { createKeyedQueue } from '../ground/deadline.ts'
import { errorText, SessmgrError } from '../ground/errors.ts'
import { logFailure, warn } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessionSettings } from '../options/setting-rules.ts'
import { deviceName } from '../sessions/device.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import { isCurrent, type SessionRecord, type StoredSession, type Token, tokenOf } from '../sessions/session-record.ts'
import { type LoginMessage, traceLogin } from './channels.ts'
import { requireOwnRequest, unlessAway } from './check-session.ts'
import { type Committed, commitLogin, type EstablishedSession, replacedBy } from './decision/commit-login.ts'
import {
  evaluateLogin,
  type LoginAttempt,
  type LoginEvaluation,
  limitOf,
  type SessionChoice,
} from './decision/evaluate-login.ts'
import { termsOfLogin } from './decision/login-terms.ts'
import { blockedMessage } from './decision/refusals.ts'
import { endByAge } from './ending/end-sessions.ts'
import type { EndedSession } from './ending/ended-notes.ts'
import { type AnnouncedAction, asEvents } from './events.ts'
import type { LimiterContext } from './limiter-context.ts'

/**
 * A login gives up after this many attempts. An attempt fails if the user's sessions change meanwhile, usually because
 * of another login.
 */
const MAX_ATTEMPTS = 100
/** Longest pause between attempts, in milliseconds. */
const MAX_PAUSE_MS = 20

/** Result of a login. */
export type Admission =
  | {
      /** Whether the login is admitted. */
      readonly admitted: true
      /** The session that was registered. */
      readonly session: SessionRecord
      /** The `Set-Cookie` header to send, if the login passed `device`. */
      readonly deviceCookie?: string
    }
  | {
      /** Whether the login is admitted. */
      readonly admitted: false
      /** The message for the user, as plain text. */
      readonly message: string
      /** What the user must choose before the login is admitted. Undefined if the user cannot choose. */
      readonly choice?: SessionChoice
      /** The label that the `login` option has given the login. */
      readonly label?: string | undefined
    }

const NO_PAGE =
  'A login was refused instead of letting the user choose, because there is no page for the choice. Mount ' +
  'limiter.choice().'

/** How long a login may delay the next login of the same user. Usually, a login takes only a few milliseconds. */
const LOGIN_HOLD_MS = 250

/**
 * Returns the function that performs logins; see {@link admitLogin}. Logins of one user run one after the other, unless
 * one takes too long.
 */
export function createAdmission(context: LimiterContext) {
  const inTurn = createKeyedQueue(LOGIN_HOLD_MS)
  return (attempt: LoginAttempt, establish: () => Promise<EstablishedSession>): Promise<Admission> => {
    requireOwnRequest(context.store)
    const { userId } = attempt
    return inTurn(String(userId), () =>
      traceLogin(userId, async (message) => {
        const terms = termsOfLogin(context, attempt)
        return admitLogin(context, terms ? { ...attempt, ...(await terms) } : attempt, establish, message)
      }),
    )
  }
}

/**
 * Performs a login: decides, lets the framework create the session, registers it, and ends displaced sessions.
 *
 * Refuses a login before it calls `establish`. After that, undoes the session only if the login loses a race, the
 * settings have changed, or something fails.
 *
 * @param message Message of the `sessmgr.login` channel, which this function completes. Undefined if nobody listens.
 * @throws SessmgrError `session_ended` if the session that the login continues is over or the user was erased;
 * `login_conflict` after 100 lost races; `hook_failed`, `hook_timeout`, `store_unavailable`. The user's other sessions
 * stay, unless the store lost the reply to a commit, or the login could not be recorded.
 */
async function admitLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  establish: () => Promise<EstablishedSession>,
  message?: LoginMessage,
): Promise<Admission> {
  const { userId } = attempt
  const replaced = attempt.replaces === undefined ? [] : [tokenOf(attempt.replaces)]
  let established: EstablishedSession | undefined
  const ignored = () => (established ? [...replaced, tokenOf(established.sessionId)] : replaced)
  try {
    const startedAt = performance.now()
    const evaluation = await evaluateLogin(context, attempt, ignored())
    if (message) message.mode = evaluation.settings.logic
    if (evaluation.decision.admit) established = await establishUnlessAway(context, userId, establish)

    let latest = evaluation
    for (let tries = 1; latest.decision.admit && established; tries++) {
      if (message) message.tries = tries
      // The store refuses what may have begun before an erasure, but not for as long as this.
      const isLong = performance.now() - startedAt > context.store.sessions.quietMs
      if (isLong && evaluation.read.now <= Number(await context.erasures.of(userId))) throw signedOutMeanwhile()
      const committed = await commitLogin(context, attempt, established, latest)
      const session = committed && (await followUp(context, attempt, latest, committed, message))
      if (session) return { admitted: true, session }
      if (tries === MAX_ATTEMPTS) throw conflict()
      // A random pause keeps processes that log in the same user from colliding again and again.
      await sleep(Math.random() * Math.min(tries, MAX_PAUSE_MS))
      latest = await evaluateLogin(context, attempt, ignored())
    }
    const undone = established
    established = undefined
    if (undone) await unlessAway(context, undone.revert())
    return await refuse(context, attempt, latest)
  } catch (error) {
    if (error instanceof SessmgrError && error.code === 'store_unavailable') context.outage.isOn = true
    if (established) await unlessAway(context, revert(context, userId, established)).catch(() => {})
    throw error
  }
}

/** Lets the framework create the session. If sessmgr's own store is away meanwhile, undoes the session once it exists. */
async function establishUnlessAway(
  context: LimiterContext,
  userId: UserId,
  establish: () => Promise<EstablishedSession>,
): Promise<EstablishedSession> {
  const establishing = establish()
  try {
    return await unlessAway(context, establishing)
  } catch (error) {
    establishing.then(
      (late) => revert(context, userId, late),
      () => {},
    )
    throw error
  }
}

/** How often, and how many times, to try again to undo a login while the store is away. */
const UNDO_EVERY_MS = 1000
const MOST_UNDO_TRIES = 600

/** Undoes a login whose outcome is unknown, as soon as the stores can be reached. */
async function revert(context: LimiterContext, userId: UserId, established: EstablishedSession): Promise<void> {
  const { sessionId } = established
  const undo = () => context.store.sessions.undo(userId, tokenOf(sessionId))
  const [reverted, undone] = await Promise.allSettled([established.revert(), undo()])
  if (undone.status === 'rejected') void undoLater()
  if (reverted.status === 'rejected') warnOfRest(reverted.reason)

  /** A write of the login may still be on its way, so that it would succeed after the outage. */
  async function undoLater(): Promise<void> {
    for (let tries = 1; ; tries++) {
      await sleep(UNDO_EVERY_MS, undefined, { ref: false })
      try {
        return await undo()
      } catch (error) {
        if (tries === MOST_UNDO_TRIES) return warnOfRest(error)
      }
    }
  }

  function warnOfRest(error: unknown): void {
    const message = 'A failed login could not be undone in the stores. Anything left of it will expire.'
    logFailure(context.logger, message, { error: errorText(error, sessionId) })
  }
}

function conflict(): SessmgrError {
  const message = `This user's sessions changed ${MAX_ATTEMPTS} times during the login. Try again.`
  return new SessmgrError('login_conflict', message)
}

async function refuse(
  { hooks, logger, events }: LimiterContext,
  attempt: LoginAttempt,
  evaluation: LoginEvaluation,
): Promise<Admission> {
  const { decision, reached } = evaluation
  const { userId, canAsk = false, cannotAsk = NO_PAGE, texts } = attempt
  const message = String(await hooks.applyFilters('sessmgr_error_message', await blockedMessage(texts?.(), reached)))
  const { choose } = decision
  const list = asEvents(decision.actions)
  if (choose !== undefined && !canAsk) {
    warn(logger, 'nobody-can-be-asked', cannotAsk)
    list.push(...asEvents([['sessmgr_login_blocked', userId]]))
  }
  const asked = choose !== undefined && canAsk
  const { ip = null, userAgent = null } = attempt
  const client = { userId, ip, userAgent }
  if (reached) list.push({ type: 'refused', client, refusal: { ...limitOf(reached), asked } })
  await events.report(list)
  if (!reached) return { admitted: false, message }
  const { maximum, sessions } = reached.context
  const label = attempt.terms?.label ?? undefined
  return { admitted: false, message, ...(asked && { label, choice: { need: choose, maximum, sessions } }) }
}

/** Kinds of end that do not count as displacement, because they made no room for the login. */
const NO_ROOM: readonly SessionEnd['kind'][] = ['replaced', 'logout_all', 'lost', 'max_age']

/** Reports a committed login and the sessions that it has ended. Returns the new session. */
async function followUp(
  context: LimiterContext,
  attempt: LoginAttempt,
  evaluation: LoginEvaluation,
  committed: Committed,
  message: LoginMessage | undefined,
): Promise<SessionRecord> {
  const { decision, settings } = evaluation
  const { record: session } = committed.admitted
  if (message) message.displaced = committed.ended.length
  const { ended, renewed } = await endsOf(attempt, evaluation, committed)
  const how = {
    replaced: [...renewed, ...ended].find(({ end }) => end.kind === 'replaced')?.record.token ?? null,
    displaced: ended.filter(({ end }) => !NO_ROOM.includes(end.kind)).map(({ record }) => record.token),
    adopted: false,
  }
  const stale = ended.filter(({ end }) => end.kind === 'logout_all')
  const invalidated = stale.map(({ record }) => ['sessmgr_session_invalidated', record.userId, record.token] as const)
  const actions: AnnouncedAction[] = [...decision.actions, ...invalidated]
  for (const { record, end } of renewed) actions.push(['sessmgr_session_ended', record, end])
  const { newDevice } = committed
  await context.events.report([
    ...asEvents(actions),
    ...ended.map((one) => ({ type: 'ended', session: one }) as const),
    { type: 'started', session, how, before: evaluation },
    ...asEvents(newDevice ? [['sessmgr_new_device', session, newDevice]] : []),
  ])
  warnOfLockOut(context, settings, session)
  return session
}

/** Returns the sessions that a login has ended, and old registrations of its own session, each with how it ended. */
async function endsOf(
  attempt: LoginAttempt,
  evaluation: LoginEvaluation,
  { admitted, ended }: Committed,
): Promise<{ readonly ended: readonly EndedSession[]; readonly renewed: readonly EndedSession[] }> {
  const { token, createdAt: at, ip, userAgent } = admitted.record
  const replaced = replacedBy(attempt, evaluation)
  const isRenewed = replaced.includes(token)
  const renewed = isRenewed ? evaluation.read.sessions.filter(({ record }) => record.token === token) : []
  const by = ended.length + renewed.length > 0 && { token, device: await nameOf(userAgent), ip }
  const withEnd = (one: StoredSession): EndedSession => {
    if (evaluation.read.aged.some(({ record }) => record.token === one.record.token))
      return { ...one, end: endByAge(one) }
    const kind = kindOfEnd(one.record, evaluation, replaced)
    return { ...one, end: { kind, at, ...(by && kind !== 'logout_all' && { by }) } }
  }
  return { ended: ended.map(withEnd), renewed: renewed.map(withEnd) }
}

function kindOfEnd(
  record: SessionRecord,
  { epoch, decision, lost, chosen, measured }: LoginEvaluation,
  replaced: readonly Token[],
): SessionEnd['kind'] {
  const { token } = record
  if (replaced.includes(token)) return 'replaced'
  if (!isCurrent(epoch, record)) return 'logout_all'
  if (lost.includes(token)) return 'lost'
  if (chosen.includes(token)) return 'chosen'
  const isNeverUsed = decision.kind !== 'displaced' && measured?.neverUsed.some((session) => session.token === token)
  return isNeverUsed ? 'never_used' : (decision.kind ?? 'displaced')
}

/** Returns the name of a device. If it is null, the notice to the signed-out user names no device. */
async function nameOf(userAgent: string | null): Promise<string | null> {
  const { name } = await deviceName(userAgent).catch(() => ({ name: null }))
  return name
}

/** Being locked out for up to a day is not worth a warning. */
const LONG_MS = 24 * 60 * 60_000

/** Warns if users who lose a session cookie cannot log in again until that session expires. */
function warnOfLockOut(
  { logger, modes }: LimiterContext,
  { logic, idle_release, enforce }: SessionSettings,
  { createdAt, expiresAt, device }: SessionRecord,
): void {
  const { asks, releaseTime } = modes.strategyOf(logic)
  const refuses = releaseTime !== undefined && !asks
  const locksOut = refuses && enforce && idle_release === 0 && !device && expiresAt - createdAt > LONG_MS
  if (!locksOut) return
  const date = new Date(expiresAt).toISOString().slice(0, 10)
  warn(
    logger,
    'block-without-a-way-out',
    `A mode that refuses logins, without idle_release: a browser that was closed without signing out keeps its slot until ${date}. ` +
      'Set idle_release or the device option.',
  )
}
