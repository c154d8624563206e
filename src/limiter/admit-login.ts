import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../ground/error-text.ts'
import { SessmgrError } from '../ground/errors.ts'
import { warn } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessionRecord } from '../sessions/session-record.ts'
import { type Token, tokenOf } from '../sessions/token.ts'
import { ENGLISH } from '../texts/english.ts'
import { checkSession } from './check-session.ts'
import { evaluateLogin, type LoginEvaluation } from './evaluate-login.ts'
import type { LimiterContext } from './limiter-context.ts'

/** Commits that may lose before a login gives up. Each loses to another change of the user's sessions, mostly to a login. */
const MAX_ATTEMPTS = 100
/** Longest pause between two of them, in milliseconds. */
const MAX_PAUSE_MS = 20
/** More than an address needs; behind a proxy that is trusted too far it is any text that a client chose. */
const ADDRESS_LENGTH = 64
const USER_AGENT_LENGTH = 512

/** A login whose password check has passed. */
export interface LoginAttempt {
  readonly userId: UserId
  /** Raw id of the session that this browser holds already; if it is the user's own, the login replaces it. */
  readonly replaces?: string | undefined
  /** Token of the session that the request was loaded with, if it is the user's own: the login is refused once that is over. */
  readonly continues?: Token | undefined
  /** Address of the client. @default null */
  readonly ip?: string | null | undefined
  /** What the client says that it is. @default null */
  readonly userAgent?: string | null | undefined
  /** Gives the sentence that a blocked user reads, unless the filter `sessmgr_error_message` changes it. @default in English */
  readonly blockedMessage?: (() => string) | undefined
}

/** The session that the host has made for a login. */
export interface EstablishedSession {
  readonly sessionId: string
  /** Milliseconds until it expires. */
  readonly ttlMs: number
  /** Takes the session back, as if the login had not happened. */
  revert(): Promise<void>
}

/** What became of a login. */
export type Admission =
  | {
      /** Whether the login is admitted. */
      readonly admitted: true
      /** The session that was registered. */
      readonly session: SessionRecord
    }
  | {
      /** Whether the login is admitted. */
      readonly admitted: false
      /** The sentence that the user reads, plain text. */
      readonly message: string
    }

/** The sentence that somebody reads whose session was ended while a request of theirs was under way. */
const ENDED_MESSAGE = 'You have been signed out in the meantime. Please sign in again.'

/**
 * Carries a login through: decides, lets the host establish the session, registers it, ends the displaced ones.
 *
 * A refusal comes before `establish` is called; only when another process wins a race after that is the session reverted.
 *
 * @throws SessmgrError `session_ended` when the session that the login continues is over, `hook_failed`, `hook_timeout`,
 * `store_unavailable`, or `login_conflict` after 100 lost races; then no session has changed hands.
 */
export async function admitLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
  establish: () => Promise<EstablishedSession>,
): Promise<Admission> {
  const { userId, continues } = attempt
  // The commit asks again, in one step; until then the host has done nothing that must be taken back.
  if (continues !== undefined && !(await checkSession(context, userId, continues)).live) throw sessionEnded()
  const replaced = attempt.replaces === undefined ? [] : [tokenOf(attempt.replaces)]
  const evaluation = await evaluateLogin(context, userId, replaced)
  if (!evaluation.decision.admit) return refuse(context, attempt, evaluation)

  const established = await establish()
  let latest = evaluation
  try {
    for (let tries = 1; latest.decision.admit; tries++) {
      const session = await commit(context, attempt, established, latest)
      if (session) return { admitted: true, session }
      if (tries === MAX_ATTEMPTS) throw conflict()
      // Spread out, so that many processes logging in one user do not collide in step.
      await sleep(Math.random() * Math.min(tries, MAX_PAUSE_MS))
      latest = await evaluateLogin(context, userId, [...replaced, tokenOf(established.sessionId)])
    }
  } catch (error) {
    await revert(context, userId, established)
    throw error
  }
  await established.revert()
  return refuse(context, attempt, latest)
}

/** Takes a login back whose outcome is unknown, as far as the stores can be reached. */
async function revert(context: LimiterContext, userId: UserId, established: EstablishedSession): Promise<void> {
  const own = [tokenOf(established.sessionId)]
  const results = await Promise.allSettled([established.revert(), context.store.sessions.end(userId, own)])
  const failed = results.find((result) => result.status === 'rejected')
  if (!failed) return
  const details = { error: errorText(failed.reason, established.sessionId) }
  const message = 'A failed login could not be undone in the stores. What is left of it expires.'
  warn(context.logger, 'a-store-call-failed', message, details)
}

function conflict(): SessmgrError {
  const message = `The sessions of this user changed ${MAX_ATTEMPTS} times while they were logging in. Try again.`
  return new SessmgrError('login_conflict', message)
}

function sessionEnded(): SessmgrError {
  return new SessmgrError('session_ended', ENDED_MESSAGE)
}

async function refuse(
  context: LimiterContext,
  { blockedMessage }: LoginAttempt,
  { decision }: LoginEvaluation,
): Promise<Admission> {
  const message = await context.hooks.applyFilters('sessmgr_error_message', blockedMessage?.() ?? ENGLISH.login_blocked)
  context.announce(decision.actions)
  return { admitted: false, message: String(message) }
}

async function commit(
  context: LimiterContext,
  { userId, replaces, continues, ip, userAgent }: LoginAttempt,
  { sessionId, ttlMs }: EstablishedSession,
  { version, generation, decision, lost }: LoginEvaluation,
): Promise<SessionRecord | undefined> {
  const displaced = decision.end.map(({ token }) => token)
  // A host that keeps the id of a session at login, as old ones do, must not have it ended in the same breath.
  const replaced = replaces === undefined || replaces === sessionId ? [] : [tokenOf(replaces)]
  const end = [...displaced, ...lost, ...replaced]
  const admit = {
    sessionId,
    ttlMs,
    ip: ip?.slice(0, ADDRESS_LENGTH) ?? null,
    userAgent: userAgent?.slice(0, USER_AGENT_LENGTH) ?? null,
    generation,
  }
  const result = await context.store.sessions.commit(userId, version, { admit, end, continues })
  if (!result.committed && result.isOver) throw sessionEnded()
  if (!result.committed) return undefined
  if (result.ended.length > 0) await context.discard(result.ended)
  context.announce(decision.actions)
  return result.admitted.record
}
