import type { SessionOptions } from 'express-session'
import { describe, expect, test } from 'vitest'
import { helpAt } from '../../../src/ground/help.ts'
import { tokenOf } from '../../../src/index.ts'
import { type ExpressHost, type ExpressSetup, startExpressHost } from '../../support/express-host.ts'

/** The attributes of a Set-Cookie header that decide which cookie it means. */
function attributes(header = ''): string[] {
  return header
    .split('; ')
    .slice(1)
    .filter((attribute) => !attribute.startsWith('Expires'))
    .toSorted()
}

/** A browser whose session another login has ended. Nothing is kept about that, so no notice waits in a cookie. */
async function displaced(options: ExpressSetup & { cookieName?: string } = {}) {
  const host = await startExpressHost({ sessmgr: { endedMemory: 0 }, ...options })
  const laptop = host.browser()
  const login = await laptop.login('alice')
  const id = laptop.sessionId(options.cookieName)
  await host.signedIn('alice')
  return { host, laptop, id, login }
}

describe('the next request of an ended session', () => {
  test.each(['before', 'after'] as const)(
    'goes on as anonymous without its cookie, sessmgr %s passport.session()',
    async (order) => {
      const { host, laptop } = await displaced({ order })
      const page = await laptop.get('/')
      expect([page.status, page.text]).toEqual([200, 'public page'])
      expect(page.setCookies).toHaveLength(1)
      expect(page.setCookies[0]).toMatch(/^connect\.sid=; /)
      expect(laptop.cookies.size).toBe(0)
      expect(host.store.ids()).toHaveLength(1)

      const next = await laptop.get('/me')
      expect([next.status, next.setCookies]).toEqual([401, []])
    },
  )

  test('is answered 401 at once where a user is needed', async () => {
    const { laptop } = await displaced()
    const answer = await laptop.get('/me')
    expect(answer.status).toBe(401)
    expect(laptop.cookies.size).toBe(0)
  })

  const cookies: [string, Partial<SessionOptions>, string][] = [
    ['a name of its own', { name: 'blog.session' }, ''],
    ['a path', { cookie: { path: '/blog' } }, '/blog'],
    ['sameSite and a domain', { cookie: { sameSite: 'strict', domain: 'example.test' } }, ''],
    ['no httpOnly', { cookie: { httpOnly: false } }, ''],
    ['an age', { name: 'blog.session', rolling: true, cookie: { maxAge: 60_000, path: '/blog' } }, '/blog'],
  ]

  test.each(cookies)('clears a cookie with %s by the attributes that it was set with', async (_name, session, path) => {
    const { name: cookieName = 'connect.sid' } = session
    const { host, laptop, login } = await displaced({ session, mountedAt: path, cookieName })
    const page = await laptop.get('/')
    expect(page.status).toBe(200)
    expect(page.setCookies).toHaveLength(1)
    expect(page.setCookies[0]).toMatch(`${cookieName}=;`)
    expect(attributes(page.setCookies[0])).toEqual(attributes(login.setCookies[0]))
    expect(laptop.cookies.size).toBe(0)
    expect(host.store.ids()).toHaveLength(1)
  })

  test('clears the cookie with its path also where the request destroys its anonymous session', async () => {
    const { laptop } = await displaced({ session: { cookie: { path: '/blog' } }, mountedAt: '/blog' })
    expect((await laptop.post('/destroy')).status).toBe(204)
    expect(laptop.cookies.size).toBe(0)
  })

  test('keeps the cookie that this very request gets for what it writes', async () => {
    const { host, laptop, id } = await displaced()
    const answer = await laptop.post('/cart', { item: 'tea' })
    expect(answer.setCookies).toHaveLength(1)
    expect(laptop.sessionId()).not.toBe(id)
    expect((await laptop.get('/cart')).json()).toEqual(['tea'])
    expect(await laptop.me()).toBe(401)
    expect(host.store.ids()).toHaveLength(2)
  })

  test('may be a login: it gets a cookie that works', async () => {
    const { laptop } = await displaced()
    expect((await laptop.login('alice')).status).toBe(200)
    expect(await laptop.me()).toBe(200)
  })

  test('gets one fresh anonymous session where every visitor gets one', async () => {
    const { host, laptop, id } = await displaced({ session: { saveUninitialized: true } })
    const page = await laptop.get('/')
    expect(page.status).toBe(200)
    expect(host.store.ids()).toContain(laptop.sessionId())
    expect(laptop.sessionId()).not.toBe(id)
    expect(await laptop.me()).toBe(401)
    expect(host.store.ids()).toHaveLength(2)
  })

  test('leaves other cookies of the browser alone', async () => {
    const { laptop } = await displaced()
    laptop.cookies.set('theme', { value: 'dark', path: '/' })
    await laptop.get('/')
    expect([...laptop.cookies.keys()]).toEqual(['theme'])
  })
})

describe('req.sessmgr', () => {
  const state = async (browser: ReturnType<ExpressHost['browser']>) => (await browser.get('/state')).json()

  test('is empty for a visitor, with and without an anonymous session', async () => {
    const host = await startExpressHost()
    const visitor = host.browser()
    expect(await state(visitor)).toEqual({})
    await visitor.post('/cart', { item: 'tea' })
    expect(await state(visitor)).toEqual({})
  })

  test('names the session of a signed-in user by its token', async () => {
    const host = await startExpressHost()
    const laptop = await host.signedIn('alice')
    expect(await state(laptop)).toEqual({ session: { token: tokenOf(laptop.sessionId() ?? ''), userId: 2 } })
  })

  test('says "missing" when the store no longer has the session, and once only', async () => {
    const { laptop } = await displaced()
    expect(await state(laptop)).toEqual({ ended: { reason: 'missing' } })
    expect(await state(laptop)).toEqual({})
  })

  test('says "ended" when the session is over although the store still has it', async () => {
    const host = await startExpressHost({ sessmgr: { endedMemory: 0 } })
    const laptop = await host.signedIn('alice')
    const id = laptop.sessionId()
    host.store.undeletable.add(id)
    await host.signedIn('alice')
    host.store.undeletable.clear()
    expect(host.store.read(id)).toBeDefined()
    expect(await state(laptop)).toEqual({ ended: { reason: 'ended' } })
    expect(host.store.read(id)).toBeUndefined()
    expect(laptop.cookies.size).toBe(0)
  })

  test('says "logout_all" after a site-wide logout', async () => {
    const host = await startExpressHost({ sessmgr: { endedMemory: 0 } })
    const laptop = await host.signedIn('alice')
    const id = laptop.sessionId()
    await host.limiter.sessions.logoutAllUsers()
    expect(await state(laptop)).toEqual({ ended: { reason: 'logout_all' } })
    expect(laptop.cookies.size).toBe(0)
    expect(host.store.read(id)).toBeUndefined()
  })

  test('tells nothing of a cookie whose signature is not ours', async () => {
    const host = await startExpressHost()
    const laptop = await host.signedIn('alice')
    const forger = host.browser()
    forger.cookies.set('connect.sid', { value: `s%3A${laptop.sessionId()}.c2lnbmF0dXJl`, path: '/' })
    expect(await state(forger)).toEqual({})
    expect(await laptop.me()).toBe(200)
  })
})

test('a store that cannot delete ended sessions lets none of them in, and the operator reads of it', async () => {
  const host = await startExpressHost()
  const laptop = await host.signedIn('alice')
  host.store.undeletable.add(laptop.sessionId())
  await host.limiter.sessions.endAll(2)
  expect(host.logs).toEqual([
    [
      `An ended session could not be deleted from the session store. It is still refused. See ${helpAt('a-store-call-failed')}`,
      {
        token: tokenOf(laptop.sessionId() ?? ''),
        error: 'The store does not destroy.',
      },
    ],
  ])
  const answer = await laptop.get('/me')
  expect(answer.status).not.toBe(200)
  expect(answer.text).not.toContain('"id"')
})
