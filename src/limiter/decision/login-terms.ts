import { signedOutMeanwhile } from '../../auth/erasures.ts'
import { answerInTime } from '../../ground/deadline.ts'
import { inWords } from '../../ground/option-checks.ts'
import type { UserId } from '../../ground/user-id.ts'
import { type Login, type LoginTerms, type Token, termsOf } from '../../sessions/session-record.ts'
import { checkSession } from '../check-session.ts'
import type { LimiterContext } from '../limiter-context.ts'
import type { LoginAttempt } from './evaluate-login.ts'
import { type LoginAnswer, problemOfAnswer } from './login-option.ts'

type From = NonNullable<LoginAttempt['from']>

/** What is decided about a login before its limit. */
interface DecidedTerms {
  readonly terms: LoginTerms
  /** The session to which a user returns who acted as another. The login replaces it. */
  readonly returnsTo?: Token | undefined
}

/**
 * Decides on the terms of a login. They stay if only the id of a session changes. Returns undefined if there is nothing
 * special about the login.
 *
 * @throws SessmgrError `hook_failed`, `hook_timeout`; `session_ended` if the session of the user who acts is over.
 */
export function termsOfLogin(
  context: LimiterContext,
  attempt: LoginAttempt,
): Promise<DecidedTerms | undefined> | undefined {
  const { from, given, isUntold, terms } = attempt
  if (terms) return undefined
  if (!context.login && !given && !isUntold && from?.actor === undefined) return undefined
  return decideTerms(context, attempt)
}

async function decideTerms(context: LimiterContext, attempt: LoginAttempt): Promise<DecidedTerms | undefined> {
  const { userId, isUntold, since, continues, from } = attempt
  const { sessions } = context.store
  if (isUntold && since) return { terms: since.terms }
  const isOther = from !== undefined && String(from.userId) !== String(userId)
  // Who acts as a user and signs in as that user again, as after a change of the profile, still acts.
  const before = isUntold ? continues : !isOther && from?.actor !== undefined ? from.token : undefined
  const known =
    before !== undefined && (await sessions.read(userId)).sessions.find(({ record }) => record.token === before)
  if (known)
    return { terms: isUntold ? termsOf(known) : { ...termsOf(known), loggedInAt: undefined, maxAgeMs: undefined } }
  const isReturn = isOther && String(from.actor) === String(userId)
  const others = isOther && !isReturn ? from : undefined
  const { label = null, counts = true } = { ...(await answerOf(context, attempt, others)), ...attempt.given }
  if (!counts && others) return { terms: { label, counts, ...(await hostOf(context, userId, others)) } }
  if (!isReturn) return { terms: { label, counts } }
  const { loggedInAt, host, bound } = await lastOf(context, from)
  return { terms: { label, counts, loggedInAt, bound }, returnsTo: typeof host?.[1] === 'string' ? host[1] : undefined }
}

/** Returns the terms of the session that a request came with, also if the request has given it up. */
async function lastOf({ store }: LimiterContext, { userId, token, since }: From): Promise<Partial<LoginTerms>> {
  const { sessions } = await store.sessions.read(userId)
  const session = sessions.find(({ record }) => record.token === token)
  return session ? termsOf(session) : (since?.terms ?? {})
}

/**
 * Returns what the session of a user who acts as another depends on: whatever the session that begins it depends on. Its
 * age counts from the login of who acts, because nobody else has proved anything since.
 */
async function hostOf(
  context: LimiterContext,
  userId: UserId,
  from: From,
): Promise<Pick<LoginTerms, 'host' | 'loggedInAt' | 'bound'>> {
  const { userId: other, token, stays, since } = from
  const { sessions, epoch } = context.store
  // Read first: whatever ends the user's sessions from here on has either ended this one or changes the mark.
  const [{ mark, now }, { generation }] = await Promise.all([sessions.read(other), epoch.current()])
  const last = await lastOf(context, from)
  const { loggedInAt, bound, host = stays ? ([other, token] as const) : ([other, mark, now] as const) } = last
  const isLeft = since !== undefined && since.mark === mark && since.generation === generation
  if (!isLeft && !(await checkSession(context, other, token)).live) throw signedOutMeanwhile()
  return { loggedInAt, bound, host: String(host[0]) === String(userId) ? undefined : host }
}

async function answerOf(
  { login, deadlineMs }: LimiterContext,
  { userId, user, ip = null, userAgent = null, device = null, requestOf }: LoginAttempt,
  others: Login | undefined,
): Promise<LoginAnswer | undefined> {
  if (!login) return undefined
  const from = others && { userId: others.userId, token: others.token }
  return answerInTime('login', deadlineMs, async () =>
    checked(await login({ userId, user, ip, userAgent, device, request: requestOf?.(), from })),
  )
}

function checked(answer: unknown): LoginAnswer | undefined {
  if (answer === undefined) return undefined
  if (answer === null || typeof answer !== 'object') throw new Error(`it must return an object; got ${inWords(answer)}`)
  const problem = problemOfAnswer(answer)
  if (problem) throw new Error(problem)
  return answer
}
