import { type ChoosableSession, SessmgrError } from '../ground/errors.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessionChoice } from '../limiter/decision/evaluate-login.ts'
import type { PendingLogins } from '../limiter/pending-logins.ts'
import { deviceName } from '../sessions/device.ts'
import type { SessionRecord } from '../sessions/session-record.ts'
import type { Say, TextsFor } from '../texts/texts-for.ts'
import type { GuardedRequest } from './host-types.ts'
import { viewOf } from './request/host-visit.ts'
import { LoginCookie, scopeOf, sendCookies } from './request/login-cookie.ts'

/** The cookie with the secret of a pending login. */
export const PENDING_COOKIE = new LoginCookie('sessmgr_pending')
/**
 * How much longer the cookie lives than the login, so that a user who comes back late does not seem to refuse cookies.
 */
const COOKIE_SECONDS = 86_400

/** The page where users choose which sessions to end. */
export interface ChoicePage {
  /** Address of the page. */
  readonly url: string
  /** How many seconds a login waits for the choice. */
  readonly seconds: number
  /** Whether users see the addresses of their sessions. */
  readonly showsIp: boolean
  /** Whether the error also contains the secret of the pending login, for clients without cookies. */
  readonly secretInBody: boolean
}

export interface AskParts {
  readonly pending: PendingLogins
  readonly page: ChoicePage
  readonly textsFor: TextsFor
}

/** A login that needs a choice. */
export interface AskedLogin {
  readonly request: GuardedRequest
  readonly userId: UserId
  readonly choice: SessionChoice
  /** Whether this login continues a pending login, so that no other pending login may be opened. */
  readonly isPending: boolean
}

/**
 * Opens a pending login and sends its secret to the browser. Returns the error `login_choice_required`, which describes
 * the choice.
 *
 * @throws SessmgrError `store_unavailable`, or `session_ended` if the user was erased meanwhile; nothing was opened.
 */
export async function askUser({ pending, page, textsFor }: AskParts, login: AskedLogin): Promise<SessmgrError> {
  const { request, userId, choice, isPending } = login
  const { say } = textsFor(viewOf(request))
  const { url, seconds, showsIp, secretInBody } = page
  const { need, maximum } = choice
  const latestFirst = choice.sessions.toSorted((one, other) => other.lastSeenAt - one.lastSeenAt)
  const sessions = await Promise.all(latestFirst.map((record) => describe(record, showsIp, say)))
  const secret = isPending ? undefined : await pending.open(userId, seconds * 1000)
  if (secret) sendCookies(request, [PENDING_COOKIE.write(secret, seconds + COOKIE_SECONDS, scopeOf(request))])
  return new SessmgrError(
    'login_choice_required',
    say(need === 1 ? 'login_choice_one' : 'login_choice_other', { count: need }),
    {
      choice: { url, need, maximum, expiresIn: seconds, sessions, ...(secret && secretInBody && { pending: secret }) },
    },
  )
}

async function describe(
  { token, userAgent, createdAt, lastSeenAt, ip }: SessionRecord,
  showsIp: boolean,
  say: Say,
): Promise<ChoosableSession> {
  const { name } = await deviceName(userAgent, say('account_device'))
  return { token, device: name, createdAt, lastSeenAt, ...(showsIp && { ip }) }
}
