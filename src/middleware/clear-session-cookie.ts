import { parseCookie, stringifySetCookie } from 'cookie'
import type { HostRequest, HostResponse } from '../guard/host-types.ts'
import type { KeepNotice } from '../guard/notice/notice.ts'
import { changeCookies, cookiesOf, showsPage } from '../guard/request/cookies.ts'

/** Matches cookie names that are valid in Set-Cookie. Browsers also send other names, if a script has set them. */
const NAME = /^[!-:<>-~]+$/

/**
 * Removes the cookie of an ended session from the browser with the next page, unless a new session cookie replaces it.
 *
 * express-session does not expose the name of its cookie, so the cookie is found by its value, the signed session id.
 *
 * @param keepNotice Called if the browser loses the cookie, unless the request has logged in.
 * @param isReplaced Whether the request already has a new session, which express-session saves.
 * @param isLeft Checks whether another response has replaced the session. If so, the browser already has another
 * cookie.
 */
export function clearSessionCookie(
  request: HostRequest,
  response: HostResponse,
  deadSessionId: string,
  keepNotice: KeepNotice,
  isReplaced: boolean,
  isLeft: () => boolean,
): void {
  const cookies = parseCookie(request.headers.cookie ?? '')
  const name = Object.keys(cookies).find((key) => NAME.test(key) && cookies[key]?.startsWith(`s:${deadSessionId}.`))
  if (name === undefined) return
  const anonymousId = request.sessionID
  // Read the cookie now, because a request may end its anonymous session before it responds.
  const anonymousCookie = request.session?.cookie

  changeCookies(response, () => {
    const session = request.session
    const isSaved = isReplaced || request.sessionID !== anonymousId
    const willBeSaved = session && (isSaved || Object.keys(session).some((key) => key !== 'cookie'))
    if (!willBeSaved && !showsPage(request, response.statusCode)) return
    if (!willBeSaved && isLeft()) return
    if (!request.sessmgr?.session) keepNotice()
    if (willBeSaved) return
    const { path = '/', domain, secure, sameSite, httpOnly, partitioned } = anonymousCookie ?? {}
    const attributes = { path, domain, secure: secure === true, sameSite, httpOnly: httpOnly !== false, partitioned }
    const cleared = stringifySetCookie({ name, value: '', ...(attributes as object), expires: new Date(0) })
    response.setHeader('Set-Cookie', [...cookiesOf(response), cleared])
  })
}
