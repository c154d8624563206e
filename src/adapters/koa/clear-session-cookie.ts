import type { KeepNotice } from '../../guard/notice/notice-parts.ts'
import { changeCookies } from '../../guard/request/change-cookies.ts'
import { cookiesOf } from '../../guard/request/cookies-of.ts'
import { showsPage } from '../../guard/request/shows-page.ts'
import type { KoaVisit } from './koa-visit.ts'

/**
 * Removes the cookie of an ended session from the browser with the next page, unless a saved session replaces it.
 *
 * @param keepNotice Called if the browser loses the cookie, except by a login.
 */
export function clearSessionCookie(visit: KoaVisit, keepNotice: KeepNotice): void {
  const { res, sessionOptions } = visit.context
  // With `externalKey`, the application itself stores the session id in the browser.
  if (sessionOptions.externalKey) return
  changeCookies(res, () => {
    const cookies = cookiesOf(res)
    const isReplaced = cookies.some((cookie) => cookie.startsWith(`${sessionOptions.key}=`))
    if (!isReplaced && !showsPage(visit.raw, res.statusCode)) return
    if (!visit.sessmgr.session) keepNotice()
    if (!isReplaced) visit.clearCookie()
  })
}
