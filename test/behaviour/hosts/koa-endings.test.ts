import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { memoryStore, tokenOf } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { loggedIn } from '../../support/browser.ts'
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

  test.each(['before', 'after'] as const)(
    'decision 71: loses the cookie, as in Koa alone, and the next login has the slot, with sessmgr %s Passport',
    async (order) => {
      const clock = fakeClock()
      const host = await start({ order, further, sessmgr: { store: memoryStore({ clock }) } })
      const browser = host.browser()
      const headers = { 'user-agent': 'Mozilla/5.0' }
      const { status, setCookies } = await browser.post('/login-and-fail', {}, headers)
      expect([status, setCookies, await browser.me()]).toEqual([500, [], 401])
      clock.advance(11_000)
      expect((await browser.login('alice', headers)).status).toBe(200)
      expect([await browser.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
    },
  )

  test('decision 71: has the cookies of the error alone', async () => {
    const host = await start({ further })
    const browser = host.browser()
    const { status, setCookies } = await browser.post('/direct-login-and-fail')
    expect([status, setCookies]).toEqual([409, ['mine=1']])
    expect((await browser.get('/state')).json()).toEqual({})
  })

  test('decision 71: that comes after the head of its answer leaves the session to the browser, which has the cookie', async () => {
    const host = await start({
      further: () => ({
        'POST /login-and-stream': async (ctx) => {
          await ctx.login(alice)
          ctx.body = Readable.from(
            (async function* () {
              yield 'begun'
              await new Promise((resolve) => setTimeout(resolve, 50))
              throw new Error('boom')
            })(),
          )
        },
      }),
    })
    const answer = await fetch(`${host.origin}/login-and-stream`, { method: 'POST' })
    const cookie = answer.headers.getSetCookie().map((one) => one.split(';')[0])
    await answer.text().catch(() => {})
    await expect.poll(() => host.errors.length).toBeGreaterThan(0)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const me = await host.browser().get('/me', { headers: { cookie: cookie.join('; ') } })
    expect([cookie.length, me.status, await host.limiter.sessions.count(2)]).toEqual([2, 200, 1])
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

test('decision 71: an error leaves the cookie of an ended session as it is, and carries the notice', async () => {
  const host = await start({ further: () => ({ 'GET /private': (ctx) => ctx.throw(401) }) })
  const browser = await loggedIn(host, 'alice')
  const id = host.sessionIdOf(browser)
  await host.limiter.sessions.endAll(2)
  const { status, setCookies } = await browser.get('/private')
  expect([status, setCookies]).toEqual([401, [expect.stringMatching(`^sessmgr_notice=${tokenOf(id ?? '')}; `)]])
  expect(host.sessionIdOf(browser)).toBe(id)
  expect((await browser.get('/state')).json()).toMatchObject({ ended: { cause: { kind: 'app' } } })
})

describe('where the application writes the sessions itself, by autoCommit: false', () => {
  const session = { autoCommit: false }

  test('a login keeps its slot and its session, without any word of the application', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const host = await start({ session, sessmgr: { store } })
    const browser = await loggedIn(host, 'alice')
    expect(host.sessions.read(host.sessionIdOf(browser))).toHaveProperty('sessmgr')
    clock.advance(122_000)
    expect((await host.browser().login('alice')).status).toBe(403)
    expect(await browser.me()).toBe(200)
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
})

test('a session that the option "valid" refuses is over, and its slot free', async () => {
  let isValid = true
  const valid = (_: unknown, { passport }: { passport?: unknown }) => passport === undefined || isValid
  const host = await start({ session: { valid } })
  const browser = await loggedIn(host, 'alice')
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

test('rule 11: a login that loses a race leaves nobody signed in for the rest of the request', async () => {
  for (const order of ['before', 'after'] as const) {
    const { answer } = await loseSlot({
      order,
      further: () => ({
        'POST /login': async (ctx) => {
          await ctx.login(alice).catch(() => {})
          ctx.body = { signedIn: ctx.isAuthenticated(), user: ctx.state.user ?? null }
        },
      }),
    })
    expect(answer.json(), order).toEqual({ signedIn: false, user: null })
  }
})

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
  const browser = await loggedIn(host, 'alice')
  expect((await browser.post('/give-up')).json()).toEqual({ state: {}, nonce: null })
  expect((await browser.post('/give-up-and-login')).status).toBe(500)
  expect(host.errors).toMatchObject([{ code: 'session_middleware_missing', message: expect.stringContaining('ended') }])
})
