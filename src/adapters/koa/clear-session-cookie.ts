import { beforeHeaders } from '../../guard/request/before-headers.ts'
import { showsPage } from '../../guard/request/shows-page.ts'
import type { KoaVisit } from './koa-visit.ts'

/** Removes the cookie of an ended session from the browser with the next page, unless a saved session replaces it. */
export function clearSessionCookie(visit: KoaVisit): void {
  const { res, sessionOptions } = visit.context
  beforeHeaders(res, () => {
    const cookies = [res.getHeader('Set-Cookie') ?? []].flat().map(String)
    const isReplaced = cookies.some((cookie) => cookie.startsWith(`${sessionOptions.key}=`))
    if (!isReplaced && showsPage(visit.raw, res.statusCode)) visit.clearCookie()
  })
}
