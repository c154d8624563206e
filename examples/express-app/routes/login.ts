import { type Request, type Response, Router } from 'express'
import type passport from 'passport'
import type { Sessmgr } from 'sessmgr'
import { ownPath } from '../own-path.ts'

declare module 'express-session' {
  interface SessionData {
    messages: string[]
    /** Who was refused by the login form. */
    username: string
  }
}

const DAY = 24 * 60 * 60

/** Signs people in and out. */
export function loginRoutes(authentication: passport.Authenticator, limiter: Sessmgr): Router {
  const router = Router()

  router.get('/login', (req, res) => {
    const { messages = [], username = '' } = req.session
    delete req.session.messages
    delete req.session.username
    const redirectTo = ownPath(req.query.redirect_to)
    res.render('login', { title: 'Sign in', messages, username, redirectTo, toAdmin: /^\/admin\b/.test(redirectTo) })
  })

  router.post('/login', (req, res, next) => {
    // A script gets the error as JSON from the error handler; a browser goes back to the form, which shows the message.
    const failure = wantsJson(req) ? { failWithError: true } : { failureRedirect: formFor(req), failureMessage: true }
    // The form asks for the password alone after a refusal. A login that succeeds starts a new session, without this.
    if (!wantsJson(req)) req.session.username = String(req.body?.username ?? '').slice(0, 320)
    authentication.authenticate('local', failure)(req, res, (error?: unknown) => {
      if (error) return next(error)
      signedIn(req, res).catch(next)
    })
  })

  async function signedIn(req: Request, res: Response): Promise<void> {
    const user = req.user as Express.User
    const remember = Boolean(req.body.remember)
    const seconds = await limiter.hooks.applyFilters(
      'auth_cookie_expiration',
      (remember ? 14 : 2) * DAY,
      user.id,
      remember,
    )
    req.session.cookie.maxAge = seconds * 1000
    if (wantsJson(req)) res.json({ user: { id: user.id, login: user.login, display_name: user.displayName } })
    else res.redirect(ownPath(req.body.redirect_to))
  }

  router.post('/logout', (req, res, next) => {
    req.logout((error) => (error ? next(error) : res.redirect('/')))
  })

  router.get('/me', (req, res) => {
    if (req.user) res.json({ id: req.user.id, login: req.user.login })
    else res.status(401).json({ code: 'not_signed_in', message: 'You are not signed in.', data: { status: 401 } })
  })

  return router
}

/** The address of the login form that leads on to the same page. */
function formFor({ body }: Request): string {
  const redirectTo = ownPath(body?.redirect_to)
  return redirectTo === '/' ? '/login' : `/login?redirect_to=${encodeURIComponent(redirectTo)}`
}

function wantsJson(req: Request): boolean {
  return req.accepts(['html', 'json']) === 'json'
}
