import { promisify } from 'node:util'
import { type Request, type Response, Router } from 'express'
import type passport from 'passport'
import type { LoginChoice, Sessmgr } from 'sessmgr'
import { describeRefusal, type Refusal } from '../describe-refusal.ts'
import { ownPath } from '../own-path.ts'
import type { Users } from '../users.ts'

declare module 'express-session' {
  interface SessionData {
    /** The last refused login of this browser. */
    refusal: Refusal
    /** Where to redirect after a login that waits for a choice. sessmgr reads it. */
    returnTo: string
    /** Whether "Remember me" was set for the login that waits. */
    remember: boolean
  }
}

const NO_COOKIES = 'Signing in needs cookies, which your browser blocks.'

/** Messages for users whom the choice page sent back to the form, by its `choice` parameter. */
const CHOICE_ENDED = new Map([
  ['expired', 'That took too long. Please sign in again.'],
  ['cookies', NO_COOKIES],
])

/** Returns the routes that sign users in and out. */
export function loginRoutes(authentication: passport.Authenticator, limiter: Sessmgr, users: Users): Router {
  const router = Router()

  router.get('/login', (req, res) => {
    const { refusal } = req.session
    delete req.session.refusal
    const redirectTo = ownPath(req.query.redirect_to)
    const hasEntered = req.query.entered !== undefined
    if (hasEntered && req.user) return res.redirect(redirectTo)
    const ended = hasEntered ? NO_COOKIES : CHOICE_ENDED.get(String(req.query.choice))
    const reason = ended ?? reasonFor(redirectTo)
    res.render('login', { title: 'Sign in', refusal, redirectTo, reason })
  })

  router.post('/login', (req, res, next) => {
    authentication.authenticate('local', { failWithError: true })(req, res, (error?: unknown) => {
      const done = error === undefined ? signedIn(req, res) : refused(req, res, error)
      done.catch(next)
    })
  })

  async function signedIn(req: Request, res: Response): Promise<void> {
    const user = req.user as Express.User
    await setLife(req, user, Boolean(req.body.remember))
    if (wantsJson(req)) res.json({ user: { id: user.id, login: user.login, display_name: user.displayName } })
    else res.redirect(mayRefuseCookies(req) ? formFor(req, 'entered') : ownPath(req.body.redirect_to))
  }

  async function setLife({ session }: Request, user: Express.User, remember: boolean): Promise<void> {
    session.cookie.maxAge = await limiter.sessionLife(user, { remember })
  }

  // Mounted after Passport's session(), so that req.logIn can sign the user in.
  router.use('/login/choose', limiter.choice({ complete: chosen }))

  /** Signs in a user who has chosen which device to sign out. */
  async function chosen(req: Request, _res: Response, user: Express.User): Promise<void> {
    // Read `remember` before req.logIn, which starts a new, empty session.
    const { remember = false } = req.session
    await promisify(req.logIn.bind(req) as (user: Express.User, done: (error: unknown) => void) => void)(user)
    await setLife(req, user, remember)
  }

  /**
   * Sends a browser to the page where the user chooses a device, or back to the form, which shows why the login was
   * refused. A script gets the error as JSON from the error handler.
   */
  async function refused(req: Request, res: Response, error: unknown): Promise<void> {
    const { status = 500, choice } = error as { status?: number; choice?: LoginChoice }
    if (wantsJson(req) || status >= 500) throw error
    if (choice) {
      Object.assign(req.session, { returnTo: ownPath(req.body.redirect_to), remember: Boolean(req.body.remember) })
      return res.redirect(303, choice.url)
    }
    // The next successful login starts a new session, which does not contain the refusal.
    req.session.refusal = await describeRefusal(limiter, users, String(req.body?.username ?? ''), error)
    res.redirect(formFor(req))
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

/** Returns why a path requires signing in, for the form. */
function reasonFor(path: string): string | undefined {
  if (/^\/admin\b/.test(path)) return 'Sign in to open Session Manager.'
  return /^\/account\b/.test(path) ? 'Sign in to see your devices.' : undefined
}

/** Checks whether a request is from a browser that has not sent a cookie yet. */
function mayRefuseCookies(req: Request): boolean {
  return req.headers.cookie === undefined && req.get('Sec-Fetch-Mode') === 'navigate'
}

/**
 * Returns the path of the login form, with the same target page. With `entered`, the form redirects there at once, or
 * shows that the browser refuses cookies.
 */
function formFor({ body }: Request, entered?: 'entered'): string {
  const redirectTo = ownPath(body?.redirect_to)
  const query = new URLSearchParams({
    ...(entered && { entered: '' }),
    ...(redirectTo !== '/' && { redirect_to: redirectTo }),
  })
  return query.size === 0 ? '/login' : `/login?${query}`
}

function wantsJson(req: Request): boolean {
  return req.accepts(['html', 'json']) === 'json'
}
