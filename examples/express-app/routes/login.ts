import { type Request, type Response, Router } from 'express'
import type passport from 'passport'
import type { Sessmgr } from 'sessmgr'

const DAY = 24 * 60 * 60

/** Signs people in and out. */
export function loginRoutes(authentication: passport.Authenticator, limiter: Sessmgr): Router {
  const router = Router()

  router.get('/login', (req, res) => {
    const { messages = [] } = req.session
    delete req.session.messages
    res.render('login', { title: 'Sign in', messages })
  })

  router.post('/login', (req, res, next) => {
    // A script gets the error as JSON from the error handler; a browser goes back to the form, which shows the message.
    const failure = wantsJson(req) ? { failWithError: true } : { failureRedirect: '/login', failureMessage: true }
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
    else res.redirect('/')
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

function wantsJson(req: Request): boolean {
  return req.accepts(['html', 'json']) === 'json'
}
