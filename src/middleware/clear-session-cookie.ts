import { parseCookie, stringifySetCookie } from 'cookie'
import type { HostRequest, HostResponse } from '../guard/host-types.ts'
import { beforeHeaders } from '../guard/request/before-headers.ts'
import { showsPage } from '../guard/request/shows-page.ts'

/** What a Set-Cookie header takes for a name. Browsers send others too, when a script has set them. */
const NAME = /^[!-:<>-~]+$/

/**
 * Removes the cookie of a dead session from the browser with the next page, unless the request's session will be saved, whose
 * cookie then takes the place.
 *
 * express-session does not tell its cookie's name; the cookie that carries the signed session id gives it away.
 */
export function clearSessionCookie(request: HostRequest, response: HostResponse, deadSessionId: string): void {
  const cookies = parseCookie(request.headers.cookie ?? '')
  const name = Object.keys(cookies).find((key) => NAME.test(key) && cookies[key]?.startsWith(`s:${deadSessionId}.`))
  if (name === undefined) return
  const anonymousId = request.sessionID
  // Taken now: a request may end its anonymous session too before it answers.
  const anonymousCookie = request.session?.cookie

  beforeHeaders(response, () => {
    if (!showsPage(request, response.statusCode)) return
    const session = request.session
    const willBeSaved =
      session && (request.sessionID !== anonymousId || Object.keys(session).some((key) => key !== 'cookie'))
    if (willBeSaved) return
    const { path = '/', domain, secure, sameSite, httpOnly, partitioned } = anonymousCookie ?? {}
    const attributes = { path, domain, secure: secure === true, sameSite, httpOnly: httpOnly !== false, partitioned }
    const cleared = stringifySetCookie({ name, value: '', ...(attributes as object), expires: new Date(0) })
    response.setHeader('Set-Cookie', [response.getHeader('Set-Cookie') ?? [], cleared].flat().map(String))
  })
}
