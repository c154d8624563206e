import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../ground/error-text.ts'
import { SessmgrError } from '../ground/errors.ts'
import { warn, warnOnce } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessionRecord } from '../sessions/session-record.ts'
import { tokenOf } from '../sessions/token.ts'
import type { LoginMessage } from './channels.ts'
import { checkSession } from './check-session.ts'
import { blockedMessage } from './decision/blocked-message.ts'
import { evaluateLogin, type LoginEvaluation } from './decision/evaluate-login.ts'
import type { LoginAttempt } from './decision/login-attempt.ts'
import { limitOf } from './decision/report-only.ts'
import { warnOfLockOut } from './decision/warn-of-lock-out.ts'
import { followUpLogin } from './follow-up-login.ts'
import type { LimiterContext } from './limiter-context.ts'

/**
 * A login gives up after this many attempts. Each failed attempt lost to another change of the user's sessions, mostly
 * another login.
 */
const MAX_ATTEMPTS = 100
/** Longest pause between attempts, in milliseconds. */
const MAX_PAUSE_MS = 20
/** Longer than any address. Clients can choose this string if the application trusts too many proxies. */
const ADDRESS_LENGTH = 64
const USER_AGENT_LENGTH = 512

/** The new session of a login. */
export interface EstablishedSession {
  readonly sessionId: string
  /** Milliseconds until it expires. */
  readonly ttlMs: number
  /** Lifetime in milliseconds once the response has saved the session. @default ttlMs */
  readonly lifeMs?: number
  /** Undoes the session, as if the login had not happened. */
  revert(): Promise<void>
}

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
      /** What the user must choose before the login is admitted. Undefined if the mode does not let the user choose. */
      readonly choice?: SessionChoice
    }

/** The choice of a user at the limit, in mode `ask`. */
export interface SessionChoice {
  /** How many sessions the user must choose to end. */
  readonly need: number
  /** How many sessions the user may have. */
  readonly maximum: number
  /** The user's live sessions, oldest first. */
  readonly sessions: readonly SessionRecord[]
}

const NO_PAGE =
  'A login was refused instead of letting the user choose, because there is no page for the choice. Mount ' +
  'limiter.choice().'

/** The message if the user's session ended while their request was in progress. */
const ENDED_MESSAGE = 'You have been signed out in the meantime. Please sign in again.'

/**
 * Performs a login: decides, lets the framework create the session, registers it, and ends the displaced ones.
 *
 * A login is refused before `establish` is called. After that, the new session is undone only if another process wins a
 * race.
 *
 * @param message Completed for the channel `sessmgr.login`, if anyone listens.
 * @throws SessmgrError `session_ended` if the session that the login continues is over, `hook_failed`, `hook_timeout`,
 * `store_unavailable`, or `login_conflict` after 100 lost races; no session has changed.
 */
export async function admitLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  establish: () => Promise<EstablishedSession>,
  message?: LoginMessage,
): Promise<Admission> {
  const { userId, continues } = attempt
  // The commit checks this again atomically. Checking it here saves work that would have to be undone.
  if (continues !== undefined && !(await checkSession(context.store, userId, continues)).live) throw sessionEnded()
  const replaced = attempt.replaces === undefined ? [] : [tokenOf(attempt.replaces)]
  const evaluation = await evaluateLogin(context, attempt, replaced)
  if (message) message.mode = evaluation.settings.logic
  if (!evaluation.decision.admit) return refuse(context, attempt, evaluation)

  const established = await establish()
  let latest = evaluation
  try {
    for (let tries = 1; latest.decision.admit; tries++) {
      if (message) message.tries = tries
      const session = await commit(context, attempt, established, latest, message)
      if (session) return { admitted: true, session }
      if (tries === MAX_ATTEMPTS) throw conflict()
      // A random pause keeps processes that log in the same user from colliding again and again.
      await sleep(Math.random() * Math.min(tries, MAX_PAUSE_MS))
      latest = await evaluateLogin(context, attempt, [...replaced, tokenOf(established.sessionId)])
    }
  } catch (error) {
    await revert(context, userId, established)
    throw error
  }
  await established.revert()
  return refuse(context, attempt, latest)
}

/** Undoes a login whose outcome is unknown, as far as the stores can be reached. */
async function revert(context: LimiterContext, userId: UserId, established: EstablishedSession): Promise<void> {
  const own = [tokenOf(established.sessionId)]
  const results = await Promise.allSettled([established.revert(), context.store.sessions.end(userId, own)])
  const failed = results.find((result) => result.status === 'rejected')
  if (!failed) return
  const details = { error: errorText(failed.reason, established.sessionId) }
  const message = 'A failed login could not be undone in the stores. Anything left of it will expire.'
  warn(context.logger, 'a-store-call-failed', message, details)
}

function conflict(): SessmgrError {
  const message = `The sessions of this user changed ${MAX_ATTEMPTS} times during the login. Try again.`
  return new SessmgrError('login_conflict', message)
}

function sessionEnded(): SessmgrError {
  return new SessmgrError('session_ended', ENDED_MESSAGE)
}

async function refuse(
  { hooks, logger, announce, log }: LimiterContext,
  attempt: LoginAttempt,
  { decision, reached }: LoginEvaluation,
): Promise<Admission> {
  const { userId, canAsk = false, cannotAsk = NO_PAGE, texts } = attempt
  const message = String(await hooks.applyFilters('sessmgr_error_message', await blockedMessage(texts?.(), reached)))
  const { choose } = decision
  announce(decision.actions)
  if (choose !== undefined && !canAsk) {
    warnOnce(logger, 'nobody-can-be-asked', cannotAsk)
    announce([['sessmgr_login_blocked', userId]])
  }
  if (!reached) return { admitted: false, message }
  const { maximum, sessions } = reached.context
  const asked = choose !== undefined && canAsk
  const refusal = { ...limitOf(reached), asked }
  log?.note('login.refused', { userId, ...clientOf(attempt) }, refusal)
  announce([['sessmgr_login_refused', userId, refusal]])
  await log?.recorded?.()
  return { admitted: false, message, ...(asked && { choice: { need: choose, maximum, sessions } }) }
}

function clientOf({ ip, userAgent }: LoginAttempt) {
  return { ip: ip?.slice(0, ADDRESS_LENGTH) ?? null, userAgent: userAgent?.slice(0, USER_AGENT_LENGTH) ?? null }
}

async function commit(
  context: LimiterContext,
  attempt: LoginAttempt,
  { sessionId, ttlMs, lifeMs = ttlMs }: EstablishedSession,
  evaluation: LoginEvaluation,
  message: LoginMessage | undefined,
): Promise<SessionRecord | undefined> {
  const { userId, replaces, continues, device } = attempt
  const { version, generation, decision, lost, own, chosen, registered, unlessUsedWithin } = evaluation
  const replaced = replaces === undefined ? own : [tokenOf(replaces), ...own]
  // Some frameworks keep the session id at login. That session must not be ended.
  const left = replaced.length === 0 ? replaced : replaced.filter((token) => token !== tokenOf(sessionId))
  const end = [...decision.end.map(({ token }) => token), ...chosen, ...lost, ...left]
  const admit = {
    sessionId,
    ttlMs,
    ...clientOf(attempt),
    device: device ?? null,
    generation,
  }
  const result = await context.store.sessions.commit(userId, version, { admit, end, continues, unlessUsedWithin })
  if (!result.committed && result.isOver) throw sessionEnded()
  if (!result.committed) return undefined
  const { record } = result.admitted
  if (message) message.displaced = result.ended.length
  context.noteInDirectory((it) => it.login(evaluation, record, result.ended))
  const isKept = left.length < replaced.length
  const renewed = isKept ? registered.filter(({ record: { token } }) => token === record.token) : []
  await followUpLogin(context, evaluation, { admitted: record, ended: result.ended, renewed, replaced })
  if (device) context.noteDevice(record, registered)
  warnOfLockOut(context, evaluation.settings, { at: record.createdAt, lifeMs, device })
  return record
}
