import Koa, { type Context } from 'koa'
import bodyParser from 'koa-bodyparser'
import { KoaPassport } from 'koa-passport'
import session from 'koa-session'
import { onTestFinished } from 'vitest'
import type { Sessmgr } from '../../src/index.ts'
import { type KoaSessmgrOptions, koaRoutes, koaSessmgr } from '../../src/koa.ts'
import { Browser } from './browser.ts'
import { Gates } from './gates.ts'
import { createLimiter, FORTNIGHT, type HostSetup, type HostUnderTest } from './host-under-test.ts'
import { JsonSessions } from './json-sessions.ts'
import { listen } from './listen.ts'
import { passwordStrategy } from './password-strategy.ts'
import { recordActions } from './record-actions.ts'
import { authenticate, findUserById } from './users.ts'

type Handler = (ctx: Context) => unknown

/** Options that only an application on Koa has: further routes, by method and path. */
export interface KoaSetup extends HostSetup {
  readonly read?: KoaSessmgrOptions['read']
  readonly further?: ((parts: { limiter: Sessmgr; gates: Gates }) => Record<string, Handler>) | undefined
}

interface Session {
  cart?: string[]
  messages?: string[]
  userId?: number | undefined
  held?: string
  save(): Promise<void>
  regenerate(): Promise<void>
}

/** Starts an application on Koa, koa-session and koa-passport. */
export async function startKoaHost(setup: KoaSetup = {}): Promise<HostUnderTest> {
  const { order = 'before', sessions = new JsonSessions() } = setup
  const limiter = createLimiter(setup.sessmgr)
  const gates = new Gates()
  const authentication = createAuthentication()

  const app = new Koa()
  app.keys = ['test']
  const errors: unknown[] = []
  app.on('error', (error) => errors.push(error))
  const store = (setup.store ?? sessions.forPromises()) as never
  app.use(session({ maxAge: FORTNIGHT, ...setup.session, store }, app))
  const stack = [authentication.initialize(), authentication.session()] as Koa.Middleware[]
  if (order === 'before' && !setup.unlimited) app.use(koaSessmgr(limiter, app, { read: setup.read }))
  if (setup.bound) app.use(koaRoutes('', setup.bound(limiter)))
  for (const middleware of stack) app.use(middleware)
  if (order === 'after' && !setup.unlimited) app.use(koaSessmgr(limiter, app, { read: setup.read }))
  if (!setup.unlimited) {
    app.use(koaRoutes('/api', limiter.router()))
    app.use(koaRoutes('/admin', limiter.admin()))
    app.use(koaRoutes('/account/sessions', limiter.account(setup.account)))
  }
  if (setup.choice) app.use(koaRoutes('/login/choose', limiter.choice(setup.choice)))
  app.use(async (ctx, next) => {
    void gates.at(String(ctx.query.arrival)).pass()
    await next()
  })
  app.use(bodyParser())

  const dataOf = (ctx: Context) => ctx.session as Session
  const formOf = (ctx: Context) => (ctx.request as unknown as { body: Record<string, string> }).body
  const userIn = (ctx: Context) => authenticate(String(formOf(ctx).username), String(formOf(ctx).password))
  const signIn = authentication.authenticate('local', setup.authenticate ?? {}) as Koa.Middleware
  const succeed = async (ctx: Context) => {
    await gates.at(String(ctx.query.gate ?? 'open')).pass()
    ctx.body = { signedIn: true }
  }
  const routes: Record<string, Handler> = {
    'GET /': (ctx) => {
      ctx.body = 'public page'
    },
    'GET /login': (ctx) => {
      ctx.body = 'login form'
    },
    'GET /moved': (ctx) => ctx.redirect('/login'),
    'GET /me': (ctx) => {
      const id = (ctx.state.user as Express.User | undefined)?.id ?? dataOf(ctx).userId
      ctx.status = id === undefined ? 401 : 200
      ctx.body = { id }
    },
    'GET /state': (ctx) => {
      ctx.body = ctx.sessmgr
    },
    'GET /cart': (ctx) => {
      ctx.body = dataOf(ctx).cart ?? []
    },
    'POST /cart': (ctx) => {
      dataOf(ctx).cart = [...(dataOf(ctx).cart ?? []), String(formOf(ctx).item)]
      ctx.status = 204
    },
    'GET /messages': (ctx) => {
      ctx.body = { messages: dataOf(ctx).messages ?? [] }
    },
    'GET /nonce': async (ctx) => {
      ctx.body = (await limiter.nonce(ctx)) ?? ''
    },
    'POST /login': (ctx) => signIn(ctx as Parameters<typeof signIn>[0], () => succeed(ctx)),
    'POST /callback-login': (ctx) => {
      const callback = async (_error: unknown, user: unknown) => {
        await ctx.login(user)
        await succeed(ctx)
      }
      const signInBy = authentication.authenticate('local', callback) as Koa.Middleware
      return signInBy(ctx as Parameters<typeof signInBy>[0], async () => {})
    },
    'POST /own-login': async (ctx) => {
      await ctx.login(userIn(ctx))
      await succeed(ctx)
    },
    'POST /direct-login': async (ctx) => {
      await limiter.login(ctx, userIn(ctx))
      dataOf(ctx).userId = userIn(ctx)?.id
      await succeed(ctx)
    },
    'POST /direct-logout': async (ctx) => {
      await limiter.logout(ctx)
      ctx.status = 204
    },
    'POST /logout': async (ctx) => {
      await ctx.logout()
      ctx.status = 204
    },
    'POST /destroy': (ctx) => {
      ctx.session = null
      ctx.status = 204
    },
    'POST /rotate': async (ctx) => {
      await gates.at(String(ctx.query.gate ?? 'open')).pass()
      await dataOf(ctx).regenerate()
      dataOf(ctx).held = 'rotated'
      ctx.status = 204
    },
    'POST /hold': async (ctx) => {
      const { write } = ctx.query
      if (write === 'early') dataOf(ctx).held = 'early'
      await gates.at(ctx.path.slice('/hold/'.length)).pass()
      if (write !== 'early') dataOf(ctx).held = 'late'
      if (write === 'save') await dataOf(ctx).save()
      ctx.status = 204
    },
    ...setup.further?.({ limiter, gates }),
  }
  app.use((ctx) => routes[`${ctx.method} ${ctx.path.startsWith('/hold/') ? '/hold' : ctx.path}`]?.(ctx))
  gates.at('open').open()

  onTestFinished(() => limiter.close())
  const origin = await listen(app.callback())
  return {
    origin,
    limiter,
    gates,
    sessions,
    errors,
    actions: recordActions(limiter.hooks),
    browser: () => new Browser(origin),
    sessionIdOf: (browser) => browser.cookies.get('koa.sess')?.value,
  }
}

function createAuthentication() {
  const authentication = new KoaPassport()
  authentication.use(passwordStrategy())
  authentication.serializeUser((user, done) => done(null, (user as Express.User).id))
  authentication.deserializeUser((id: number, done) => done(null, findUserById(id) ?? false))
  return authentication
}
