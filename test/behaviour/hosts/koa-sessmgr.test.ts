import Koa from 'koa'
import session from 'koa-session'
import { describe, expect, test } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import { koaRoutes, koaSessmgr } from '../../../src/koa.ts'
import { Browser, loggedIn } from '../../support/browser.ts'
import { createLimiter, type HostSetup } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'

class ContextStore {
  get() {}
  set() {}
  destroy() {}
}

const start = (setup: HostSetup = {}) => startKoaHost(setup)

function createApp(options?: object): Koa {
  const app = new Koa()
  app.keys = ['test']
  app.silent = true
  if (options) app.use(session(options, app))
  return app
}

describe('put together in the wrong way, it says so at start-up', () => {
  test('by a code of its own for each mistake', () => {
    const [missing, unsupported] = ['session_middleware_missing', 'session_middleware_unsupported']
    const stored = createApp({ store: new JsonSessions().forPromises() })
    const limiter = createLimiter()
    for (const [what, mistake, code] of [
      ['before koa-session', () => koaSessmgr(limiter, createApp()), missing],
      ['with sessions in cookies', () => koaSessmgr(limiter, createApp({})), unsupported],
      ['with a store for each request', () => koaSessmgr(limiter, createApp({ ContextStore })), unsupported],
      ['without an application', () => koaSessmgr(limiter, undefined as never), missing],
      ['without a service', () => koaSessmgr({} as never, stored), 'invalid_option'],
      ...['api', '/api/', '/api?'].map((path) => [path, () => koaRoutes(path, () => {}), 'invalid_option'] as const),
    ] as const) {
      expect(mistake, what).toThrow(expect.objectContaining({ code }))
    }
  })
})

test('sessions work with every option of theirs', async () => {
  for (const options of [{ rolling: true }, { maxAge: 'session' }, { renew: true }]) {
    const host = await start({ session: options, sessmgr: { settings: { logic: 'logout_oldest' } } })
    const [old, young] = [host.browser(), host.browser()]
    await old.login('alice')
    expect([await old.me(), await old.me()]).toEqual([200, 200])
    await young.login('alice')
    expect([await old.me(), await young.me()], JSON.stringify(options)).toEqual([401, 200])
    await host.limiter.sessions.logoutAllUsers()
    expect((await young.get('/state')).json()).toMatchObject({ ended: { reason: 'logout_all' } })
    expect(host.sessions.ids()).toEqual([])
  }
})

test('a store hears all that koa-session says', async () => {
  const heard: unknown[] = []
  const sessions = new JsonSessions()
  const inner = sessions.forPromises()
  const note = (name: string, maxAge: unknown, options: { ctx?: unknown; rolling?: unknown } | undefined) =>
    heard.push([name, maxAge, options?.rolling, options?.ctx !== undefined])
  const store = {
    get: (key: string, maxAge: unknown, options: object) => {
      note('get', maxAge, options)
      return inner.get(key)
    },
    set: (key: string, data: unknown, maxAge: unknown, options: object) => {
      note('set', maxAge, options)
      return inner.set(key, data)
    },
    destroy: (key: string) => inner.destroy(key),
  }
  const host = await start({ sessions, store, session: { maxAge: 60_000, rolling: true } })
  const browser = await loggedIn(host, 'alice')
  heard.length = 0
  await browser.get('/me')
  expect(heard).toEqual([
    ['get', 60_000, true, true],
    ['set', 70_000, true, true],
  ])
})

test('decision 71: an id that travels outside cookies is left alone when its session has ended', async () => {
  const key = 'x-session'
  const externalKey = {
    get: (ctx: Koa.Context) => ctx.get(key),
    set: (ctx: Koa.Context, value: string) => ctx.set(key, value),
  }
  const host = await start({ session: { externalKey } })
  const form = { username: 'alice', password: 'secret' }
  const login = await host.browser().request('POST', '/login', { form })
  const headers = { [key]: login.headers.get(key) ?? '' }
  expect((await host.browser().get('/me', { headers })).status).toBe(200)
  await host.limiter.sessions.endAll(2)
  for (let turn = 0; turn < 2; turn++) {
    const ended = await host.browser().get('/state', { headers })
    expect(ended.json()).toMatchObject({ ended: { reason: 'missing' } })
    const notice = `sessmgr_notice=${tokenOf(headers[key] ?? '')}; Max-Age=259200; Path=/; HttpOnly; SameSite=Lax`
    expect([ended.headers.get(key), ended.setCookies]).toEqual([null, [notice]])
  }
})

test('below a path that another middleware has cut, as koa-mount does, the admin screen knows where it stands', async () => {
  const app = createApp({ store: new JsonSessions().forPromises() })
  const limiter = createLimiter()
  app.use(koaSessmgr(limiter, app))
  app.use(async (ctx, next) => {
    if (ctx.path === '/login') await limiter.login(ctx, { id: 2 })
    ctx.path = ctx.path.replace(/^\/+office/, '')
    await next()
  })
  app.use(koaRoutes('/admin', limiter.admin()))
  const browser = new Browser(await listen(app.callback()))
  await browser.get('/login')
  for (const path of ['/office/admin', '/office/admin/settings?a=1', '//office/admin/settings', '/admin/settings']) {
    const { status, text } = await browser.get(path)
    const base = path.startsWith('/admin') ? '/admin' : '/office/admin'
    const scripts = [...text.matchAll(/(?:src|href)="([^"]*\/assets\/)/g)].map(([, folder]) => folder)
    expect([status, new Set(scripts)], path).toEqual([200, new Set([`${base}/assets/`])])
  }
})

test('routes where sessmgr does not stand log once that they take everybody for signed out', async () => {
  const logs: unknown[] = []
  const limiter = createLimiter({ logger: { warn: (line) => void logs.push(line), error() {} } })
  const app = createApp()
  app.use(koaRoutes('/api', limiter.router()))
  const origin = await listen(app.callback())
  const headers = { cookie: 'koa.sess=x', 'x-host-nonce': 'x' }
  for (let call = 0; call < 2; call++) {
    expect((await fetch(`${origin}/api/sessmgr/v1/settings`, { headers })).status).toBe(401)
  }
  expect(logs).toEqual([expect.stringMatching(/^sessmgr is not mounted before limiter\.router\(\).*koaSessmgr/)])
})
