import { beforeHeaders } from '../../guard/request/before-headers.ts'
import { showsPage } from '../../guard/request/shows-page.ts'
import type { KoaVisit } from './koa-visit.ts'

/** Takes the cookie of a dead session from the browser with the next page, unless a session that is saved sends its own. */
export function clearSessionCookie(visit: KoaVisit): void {
  const { res, sessionOptions } = visit.context
  beforeHeaders(res, () => {
    const cookies = [res.getHeader('Set-Cookie') ?? []].flat().map(String)
    const isReplaced = cookies.some((cookie) => cookie.startsWith(`${sessionOptions.key}=`))
    if (!isReplaced && showsPage(visit.raw, res.statusCode)) visit.clearCookie()
  })
}
