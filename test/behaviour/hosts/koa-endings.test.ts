import type { Context as KoaContext } from 'koa'
import { describe, expect, test } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { type KoaSetup, startKoaHost } from '../../support/koa-host.ts'
import { loseRace } from '../../support/lose-race.ts'
import { findUserById } from '../../support/users.ts'
import { BLOCK } from './suite-tools.ts'

const start = ({ sessmgr, ...setup }: KoaSetup = {}) =>
  startKoaHost({ sessmgr: { settings: BLOCK, ...sessmgr }, ...setup })

const alice = findUserById(2)

describe('an error after a login', () => {
  const further: KoaSetup['further'] = ({ limiter }) => ({
    'POST /login-and-fail': async (ctx) => {
      await ctx.login(alice)
      throw new Error('boom')
    },
    'POST /direct-login-and-fail': async (ctx) => {
      await limiter.login(ctx, alice)
      ctx.throw(409, 'boom', { headers: { 'Set-Cookie': 'mine=1' } })
    },
  })

  test.each(['before', 'after'] as const)('carries the cookie, with sessmgr %s Passport', async (order) => {
    const host = await start({ order, further })
    const browser = host.browser()
    expect((await browser.post('/login-and-fail')).status).toBe(500)
    expect(await browser.me()).toBe(200)
    expect((await browser.post('/logout')).status).toBe(204)
    expect((await browser.login('alice')).status).toBe(200)
  })

  test('carries it beside the cookies of the error', async () => {
    const host = await start({ further })
    const browser = host.browser()
    expect((await browser.post('/direct-login-and-fail')).status).toBe(409)
    expect([...browser.cookies.keys()]).toEqual(['mine', 'koa.sess', 'koa.sess.sig'])
    expect((await browser.get('/state')).json()).toHaveProperty('session.userId', 2)
  })

  test('carries an id that travels outside cookies', async () => {
    const key = 'x-session'
    const externalKey = {
      get: (ctx: KoaContext) => ctx.get(key),
      set: (ctx: KoaContext, id: string) => ctx.set(key, id),
    }
    const host = await start({ session: { externalKey }, further })
    const headers = { [key]: (await host.browser().post('/login-and-fail')).headers.get(key) ?? '' }
    expect((await host.browser().get('/me', { headers })).status).toBe(200)
  })

  test('gives the cookie of nobody to anybody else, though all get the same error', async () => {
    const same = new Error('boom')
    const host = await start({
      further: () => ({
        'POST /login-and-fail': async (ctx) => {
          await ctx.login(alice)
          throw same
        },
        'GET /fail': () => {
          throw same
        },
      }),
    })
    await host.browser().post('/login-and-fail')
    expect((await host.browser().get('/fail')).setCookies).toEqual([])
  })
})

test('an error takes the cookie of an ended session from the browser', async () => {
  const host = await start({ further: () => ({ 'GET /private': (ctx) => ctx.throw(401) }) })
  const browser = host.browser()
  await browser.login('alice')
  await host.limiter.sessions.endAll(2)
  expect((await browser.get('/private')).status).toBe(401)
  expect(host.sessionIdOf(browser)).toBeUndefined()
})

describe('where the application writes the sessions itself, by autoCommit: false', () => {
  const session = { autoCommit: false }

  test('a login keeps its slot and its session, without any word of the application', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const host = await start({ session, sessmgr: { store } })
    const browser = host.browser()
    await browser.login('alice')
    expect(host.sessions.read(host.sessionIdOf(browser))).toHaveProperty('sessmgr')
    clock.advance(122_000)
    expect((await host.browser().login('alice')).status).toBe(403)
    expect(await browser.me()).toBe(200)
  })

  test('a login keeps its slot though an error follows', async () => {
    const clock = fakeClock()
    const host = await start({
      session,
      sessmgr: { store: memoryStore({ clock }) },
      further: () => ({
        'POST /login-and-fail': async (ctx) => {
          await ctx.login(alice)
          throw new Error('boom')
        },
      }),
    })
    const browser = host.browser()
    await browser.post('/login-and-fail')
    clock.advance(122_000)
    expect([(await host.browser().login('alice')).status, await browser.me()]).toEqual([403, 200])
  })

  test('what the application has not committed is not written', async () => {
    const host = await start({
      session,
      further: () => ({
        'POST /login-and-more': async (ctx) => {
          await ctx.login(alice)
          Object.assign(ctx.session as object, { cart: ['tea'] })
          ctx.body = 'in'
        },
      }),
    })
    const browser = host.browser()
    await browser.post('/login-and-more')
    expect(Object.keys(host.sessions.read(host.sessionIdOf(browser)) ?? {}).toSorted()).toEqual([
      '_expire',
      '_maxAge',
      'passport',
      'sessmgr',
    ])
  })

  test('a session from before the limit is marked in the store', async () => {
    const sessions = new JsonSessions()
    const veteran = (await start({ sessions, session, unlimited: true })).browser()
    await veteran.login('alice')
    const host = await start({ sessions, session })
    const moved = veteran.copy(host.origin)
    expect(await moved.me()).toBe(200)
    expect(sessions.read(host.sessionIdOf(moved))).toHaveProperty('sessmgr')
  })
})

test('a session that the option "valid" refuses is over, and its slot free', async () => {
  let isValid = true
  const valid = (_: unknown, { passport }: { passport?: unknown }) => passport === undefined || isValid
  const host = await start({ session: { valid } })
  const browser = host.browser()
  await browser.login('alice')
  isValid = false
  expect((await browser.get('/state')).json()).toMatchObject({ ended: { reason: 'missing' } })
  expect([await host.limiter.sessions.count(2), host.sessions.ids()]).toEqual([0, []])
  isValid = true
  expect((await browser.login('alice')).status).toBe(200)
})

/** Lets a login lose its slot to another process at the last moment. */
async function loseSlot({ further, ...setup }: KoaSetup) {
  const shared = { ...setup, sessions: new JsonSessions(), sessmgr: { store: memoryStore() } }
  const [here, there] = [await start({ ...shared, further }), await start(shared)]
  const visitor = here.browser()
  const [answer] = await loseRace(
    here,
    () => visitor.login('alice'),
    () => there.browser().login('alice'),
  )
  return { answer, visitor, sessions: shared.sessions }
}

test.each(['before', 'after'] as const)(
  'rule 11: a login that loses a race leaves nobody signed in for the rest of the request, with sessmgr %s Passport',
  async (order) => {
    const { answer } = await loseSlot({
      order,
      further: () => ({
        'POST /login': async (ctx) => {
          await ctx.login(alice).catch(() => {})
          ctx.body = { signedIn: ctx.isAuthenticated(), user: ctx.state.user ?? null }
        },
      }),
    })
    expect(answer.json()).toEqual({ signedIn: false, user: null })
  },
)

test('rule 11: a login that loses a race leaves no session behind, though beforeSave writes into it', async () => {
  const beforeSave = (_: unknown, session: Record<string, unknown>) => {
    session.seen = true
  }
  const { answer, visitor, sessions } = await loseSlot({ session: { beforeSave } })
  expect([answer.status, visitor.cookies.size]).toEqual([403, 0])
  expect(sessions.ids().length).toBe(1)
})

test('rule 14: whoever gives the session up is not signed in for the rest of the request', async () => {
  const host = await start({
    further: ({ limiter }) => ({
      'POST /give-up': async (ctx) => {
        ctx.session = null
        ctx.body = { state: ctx.sessmgr, nonce: (await limiter.nonce(ctx)) ?? null }
      },
      'POST /give-up-and-login': async (ctx) => {
        ctx.session = null
        await limiter.login(ctx, alice)
      },
    }),
  })
  const browser = host.browser()
  await browser.login('alice')
  expect((await browser.post('/give-up')).json()).toEqual({ state: {}, nonce: null })
  expect((await browser.post('/give-up-and-login')).status).toBe(500)
  expect(host.errors).toMatchObject([{ code: 'session_middleware_missing', message: expect.stringContaining('ended') }])
})
