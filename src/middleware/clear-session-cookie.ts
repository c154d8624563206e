import { parseCookie, stringifySetCookie } from 'cookie'
import type { HostRequest, HostResponse } from '../guard/host-types.ts'
import { beforeHeaders } from '../guard/request/before-headers.ts'
import { showsPage } from '../guard/request/shows-page.ts'

/** Valid cookie names in Set-Cookie. Browsers send others too, if a script has set them. */
const NAME = /^[!-:<>-~]+$/

/**
 * Removes the cookie of an ended session from the browser with the next page, unless a new session cookie replaces it.
 *
 * express-session does not expose its cookie's name, so it is found by its value, the signed session id.
 */
export function clearSessionCookie(request: HostRequest, response: HostResponse, deadSessionId: string): void {
  const cookies = parseCookie(request.headers.cookie ?? '')
  const name = Object.keys(cookies).find((key) => NAME.test(key) && cookies[key]?.startsWith(`s:${deadSessionId}.`))
  if (name === undefined) return
  const anonymousId = request.sessionID
  // Read now: a request may end its anonymous session before it responds.
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
