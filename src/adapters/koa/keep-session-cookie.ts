import { changeCookies } from '../../guard/request/change-cookies.ts'
import { cookiesOf } from '../../guard/request/cookies-of.ts'
import type { KoaVisit } from './koa-visit.ts'

/**
 * Keeps the session cookie in error responses, although Koa removes all their headers. Otherwise, a login before the
 * error would occupy an unusable slot, and an ended session would stay in the browser.
 */
export function keepSessionCookie(visit: KoaVisit): void {
  const { context } = visit
  const { onerror } = context
  // The cookie must not be set in the headers of the error: applications may throw the same error object for many
  // visitors.
  context.onerror = (error) => {
    if (error !== undefined && error !== null) restoreWithHeaders(visit)
    onerror.call(context, error)
  }
}

function restoreWithHeaders(visit: KoaVisit): void {
  const { context, sessionID } = visit
  const { res, sessionOptions } = context
  const { key, externalKey } = sessionOptions
  if (externalKey) {
    if (visit.wrote && visit.sessmgr.session) changeCookies(res, () => externalKey.set(context, sessionID))
    return
  }
  const isOwn = (cookie: string) => cookie.startsWith(`${key}=`) || cookie.startsWith(`${key}.sig=`)
  const own = cookiesOf(res).filter(isOwn)
  if (own.length === 0) return
  changeCookies(res, () => {
    const others = cookiesOf(res).filter((cookie) => !isOwn(cookie))
    res.setHeader('Set-Cookie', [...others, ...own])
  })
}
