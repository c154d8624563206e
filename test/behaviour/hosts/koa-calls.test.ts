import { setTimeout as sleep } from 'node:timers/promises'
import Koa from 'koa'
import koaSession from 'koa-session'
import { expect, test, vi } from 'vitest'
import { koaSessmgr } from '../../../src/koa.ts'
import { Browser } from '../../support/browser.ts'
import { createLimiter } from '../../support/host-under-test.ts'
import { type KoaSetup, startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'

/** A store that keeps what it is given, and takes a moment for each call. */
function recordingStore() {
  const sessions = new Map<string, string>()
  const calls: { name: string; ctx: unknown }[] = []
  const state: { failOnSet: Error | undefined } = { failOnSet: undefined }
  const enter = async (name: string, options: { ctx?: unknown } | undefined) => {
    calls.push({ name, ctx: options?.ctx })
    await sleep(5)
    if (name === 'set' && state.failOnSet) throw state.failOnSet
  }
  const store = {
    async get(key: string, _maxAge: unknown, options?: { ctx?: unknown }) {
      await enter('get', options)
      const json = sessions.get(key)
      return json === undefined ? undefined : JSON.parse(json)
    },
    async set(key: string, data: unknown, _maxAge: unknown, options?: { ctx?: unknown }) {
      await enter('set', options)
      sessions.set(key, JSON.stringify(data))
    },
    async destroy(key: string, options?: { ctx?: unknown }) {
      await enter('destroy', options)
      sessions.delete(key)
    },
  }
  return { store, sessions, calls, state }
}

const routes: KoaSetup['further'] = () => ({
  'GET /leave': (ctx) => {
    void ctx.logout()
    ctx.body = 'bye'
  },
  'GET /save': (ctx) => {
    const session = ctx.session as { seen?: number; save(): Promise<void> }
    session.seen = 1
    void session.save()
    ctx.body = 'saved'
  },
  'GET /save-only': (ctx) => {
    void (ctx.session as { save(): Promise<void> }).save()
    ctx.body = 'saved'
  },
  'GET /save-callback': (ctx) => {
    const session = ctx.session as { seen?: number; save(done: () => void): void }
    session.save(() => {
      session.seen = 2
      session.save(() => {})
    })
    ctx.body = 'saved'
  },
})

async function start(order: 'before' | 'after', session: KoaSetup['session'] = {}) {
  const recorded = recordingStore()
  const warn = vi.fn()
  const logger = { warn, error: warn }
  const host = await startKoaHost({ store: recorded.store, order, session, further: routes, sessmgr: { logger } })
  const laptop = host.browser()
  await laptop.login('alice')
  expect(await laptop.me()).toBe(200)
  recorded.calls.length = 0
  return { ...recorded, host, laptop, warn }
}

test.each(['before', 'after'] as const)(
  'a logout that is not awaited is over before the response, mounted %s Passport',
  async (order) => {
    const { sessions, host, laptop } = await start(order)
    const left = host.sessionIdOf(laptop)
    const { status, text, setCookies } = await laptop.get('/leave')
    expect([status, text]).toEqual([200, 'bye'])
    // Passport's logout is over once the response has the cookie of the session that follows.
    const [next = ''] = sessions.keys()
    expect(next).not.toBe(left)
    expect(setCookies.join()).toContain(`koa.sess=${next};`)
    expect(await host.limiter.sessions.count(2)).toBe(0)
    expect([await laptop.me(), host.errors]).toEqual([401, []])
  },
)

/** Starts an application that adds a logout of its own to every context, before or after it uses sessmgr. */
async function startOwnLogout(order: 'before' | 'after', name: 'logout' | 'logOut', isAwaited: boolean) {
  const { store, sessions } = recordingStore()
  const app = Object.assign(new Koa(), { keys: ['test'] })
  const errors: unknown[] = []
  app.on('error', (error) => errors.push(error))
  const addLogout = () => {
    Object.assign(app.context, {
      async [name](this: Koa.Context, farewell: string) {
        await sleep(20)
        this.session = null
        this.set('X-Farewell', farewell)
      },
    })
  }
  if (order === 'before') addLogout()
  app.use(koaSession({ store: store as never }, app)).use(koaSessmgr(createLimiter(), app))
  if (order === 'after') addLogout()
  const leave = (ctx: Koa.Context) => (ctx as unknown as Record<string, (farewell: string) => unknown>)[name]?.('bye')
  app.use(async (ctx) => {
    if (ctx.path === '/start') Object.assign(ctx.session ?? {}, { cart: ['tea'] })
    else if (isAwaited) await leave(ctx)
    else void leave(ctx)
    ctx.body = typeof ctx[name]
  })
  const browser = new Browser(await listen(app.callback()))
  await browser.get('/start')
  expect(sessions.size).toBe(1)
  return { browser, sessions, errors }
}

test('an application keeps its own ctx.logout and ctx.logOut, added before or after sessmgr, awaited or not', async () => {
  for (const [order, name, isAwaited] of [
    ['before', 'logout', true],
    ['before', 'logOut', false],
    ['after', 'logout', false],
    ['after', 'logOut', true],
  ] as const) {
    const { browser, sessions, errors } = await startOwnLogout(order, name, isAwaited)
    const { status, text, headers } = await browser.get('/leave')
    expect([status, text, headers.get('x-farewell')], `${order} ${name}`).toEqual([200, 'function', 'bye'])
    expect([sessions.size, browser.cookies.has('koa.sess'), errors], `${order} ${name}`).toEqual([0, false, []])
  }
})

test('a write that is not awaited is over before the response', async () => {
  for (const [path, seen] of [
    ['/save', 1],
    ['/save-callback', 2],
  ] as const) {
    // Otherwise, koa-session writes the session once more after the request.
    const { sessions, host, laptop } = await start('before', { autoCommit: false })
    expect((await laptop.get(path)).status, path).toBe(200)
    expect([...sessions.values()].join(), path).toContain(`"seen":${seen}`)
    expect([await laptop.me(), host.errors], path).toEqual([200, []])
  }
})

test.each([
  ['/save-only', { status: 200, me: 200 }],
  // koa-session itself fails to write the session that is left, but the user is signed out.
  ['/leave', { status: 503, me: 401 }],
])('the call at %s may fail without await: the log says so, and the process lives', async (path, { status, me }) => {
  const { state, host, laptop, warn } = await start('before')
  const id = host.sessionIdOf(laptop) ?? ''
  state.failOnSet = new Error(`${id} is locked`)
  expect((await laptop.get(path)).status).toBe(status)
  const failed = warn.mock.calls.filter(([message]) =>
    message.startsWith('ctx.logout() or a write of ctx.session failed'),
  )
  expect(failed).toEqual([[expect.stringContaining('Await such calls'), { error: '<session id> is locked' }]])
  state.failOnSet = undefined
  expect(await laptop.me()).toBe(me)
})

test('every call to the store for a change of the session gets the context of its request', async () => {
  for (const path of ['/cart', '/rotate', '/logout', '/destroy']) {
    const { calls, laptop } = await start('before')
    expect((await laptop.post(path, { item: 'tea' })).status).toBe(204)
    expect(calls.map(({ name }) => name)).toContain(path === '/cart' ? 'set' : 'destroy')
    expect(
      calls.filter(({ ctx }) => ctx === undefined),
      path,
    ).toEqual([])
  }
})

test('a request whose session has ended passes its context on, and a call from elsewhere has none', async () => {
  const { calls, sessions, host, laptop } = await start('before')
  const kept = [...sessions]
  await host.limiter.sessions.endAll(2)
  expect(calls).toEqual([{ name: 'destroy', ctx: undefined }])
  calls.length = 0
  for (const [key, json] of kept) sessions.set(key, json)
  expect(await laptop.me()).toBe(401)
  expect(calls.map(({ name, ctx }) => [name, ctx !== undefined])).toEqual([
    ['get', true],
    ['destroy', true],
  ])
})
