import type { SessionOptions } from 'express-session'
import { describe, expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { TestStore } from '../../support/test-store.ts'

const BLOCK = { settings: { maximum: 1, logic: 'block' } } as const

describe('rule 14: a slot is free at once', () => {
  const waysOut = ['/logout', '/destroy', '/regenerate'] as const
  const setups = (['plain', 'limiter'] as const).flatMap((way) => waysOut.map((path) => ({ way, path })))

  test.each(setups)('after POST $path in an application that logs in by $way', async ({ way, path }) => {
    const host = await startExpressHost({ way, ...BLOCK })
    const laptop = await host.signedIn('alice')
    expect((await host.browser().login('alice')).status).toBe(403)

    expect((await laptop.post(path)).status).toBe(204)
    expect(await host.limiter.sessions.count(2)).toBe(0)
    expect(await laptop.me()).toBe(401)
    expect((await host.browser().login('alice')).status).toBe(200)
    expect(host.actions).toEqual([['sessmgr_login_blocked', 2]])
  })

  test("after the application's own code destroyed the session in the store", async () => {
    const host = await startExpressHost(BLOCK)
    const laptop = await host.signedIn('alice')
    await new Promise((resolve) => host.store.destroy(laptop.sessionId() ?? '', resolve))
    expect(await host.limiter.sessions.count(2)).toBe(0)
    expect((await host.browser().login('alice')).status).toBe(200)
  })

  test('when a user signs in over the session of another one', async () => {
    const host = await startExpressHost(BLOCK)
    const browser = await host.signedIn('alice')
    expect((await browser.login('bob')).status).toBe(200)
    expect([await host.limiter.sessions.count(2), await host.limiter.sessions.count(3)]).toEqual([0, 1])
    expect((await host.browser().login('alice')).status).toBe(200)
    expect((await browser.get('/me')).json()).toEqual({ id: 3 })
  })
})

describe('rule 6: a session whose record the store has lost', () => {
  test('stops counting, and block mode admits the next login', async () => {
    const host = await startExpressHost(BLOCK)
    const laptop = await host.signedIn('alice')
    delete host.store.sessions[laptop.sessionId() ?? '']
    expect(await host.limiter.sessions.count(2)).toBe(0)
    expect(await host.limiter.sessions.list(2)).toEqual([])
    const phone = host.browser()
    expect((await phone.login('alice')).status).toBe(200)
    expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
    expect((await host.browser().login('alice')).status).toBe(403)
  })

  test('does not make logout_oldest end one that is there', async () => {
    const host = await startExpressHost({ settings: { maximum: 2, logic: 'logout_oldest' } })
    const kept = await host.signedIn('alice')
    const lost = await host.signedIn('alice')
    delete host.store.sessions[lost.sessionId() ?? '']
    const phone = await host.signedIn('alice')
    expect([await kept.me(), await lost.me(), await phone.me()]).toEqual([200, 401, 200])
    expect(host.actions).toEqual([])
  })

  test('stops counting for everybody when the store is emptied', async () => {
    const host = await startExpressHost(BLOCK)
    const browsers = [await host.signedIn('alice'), await host.signedIn('bob')]
    await new Promise((resolve) => host.store.clear(resolve))
    for (const browser of browsers) expect(await browser.me()).toBe(401)
    expect((await host.browser().login('alice')).status).toBe(200)
    expect((await host.browser().login('bob')).status).toBe(200)
  })
})

describe("the store's get", () => {
  const read = (store: TestStore, id: string) =>
    (store.get as (id: string) => Promise<Record<string, unknown> | undefined>).call(store, id)

  test('without a callback returns a promise: the data of a live session, nothing of an ended one', async () => {
    const host = await startExpressHost()
    const laptop = await host.signedIn('alice')
    const id = laptop.sessionId() ?? ''
    const data = await read(host.store, id)
    expect(data).toMatchObject({ passport: { user: 2 } })
    expect(await read(host.store, 'no such session')).toBeUndefined()

    host.store.undeletable.add(id)
    await host.limiter.sessions.endAll(2)
    expect(host.store.read(id)).toMatchObject({ passport: { user: 2 } })
    host.store.undeletable.clear()
    expect(await read(host.store, id)).toBeUndefined()
    expect(host.store.read(id)).toBeUndefined()
  })

  test('may report a missing session as ENOENT, as stores that keep files do', async () => {
    class FileLikeStore extends TestStore {
      override get(sessionId: string, callback: (error: unknown, session?: null) => void): void {
        if (this.sessions[sessionId]) super.get(sessionId, callback as never)
        else callback(Object.assign(new Error('no such file'), { code: 'ENOENT' }))
      }
    }
    const host = await startExpressHost({ store: new FileLikeStore(), ...BLOCK })
    const laptop = await host.signedIn('alice')
    delete host.store.sessions[laptop.sessionId() ?? '']
    expect((await laptop.get('/')).status).toBe(200)
    expect(await laptop.me()).toBe(401)
    expect((await host.browser().login('alice')).status).toBe(200)
  })

  test('may fail: the request gets the error, and nobody is signed out', async () => {
    const host = await startExpressHost()
    const laptop = await host.signedIn('alice')
    const failure = new Error('The store cannot be read.')
    host.store.getError = failure
    const answer = await laptop.get('/me')
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(answer.setCookies).toEqual([])
    expect(host.errors[0]).toBe(failure)
    host.store.getError = undefined
    expect(await laptop.me()).toBe(200)
  })
})

describe('with the express-session options', () => {
  const cases: [string, Partial<SessionOptions>][] = [
    ['saveUninitialized: true', { saveUninitialized: true }],
    ['resave: true', { resave: true }],
    ['rolling: true', { rolling: true, cookie: { maxAge: 60_000 } }],
    ["unset: 'destroy'", { unset: 'destroy' }],
    ['a cookie that lives for a minute', { cookie: { maxAge: 60_000 } }],
    [
      'everything',
      { saveUninitialized: true, resave: true, rolling: true, unset: 'destroy', cookie: { maxAge: 60_000 } },
    ],
  ]

  test.each(cases)('%s, a displaced session is over and its cart does not come back', async (_name, session) => {
    const host = await startExpressHost({ session, settings: { logic: 'allow' } })
    const [laptop, phone] = [host.browser(), host.browser()]
    await laptop.get('/')
    await laptop.login('alice')
    await laptop.post('/cart', { item: 'tea' })
    const ended = laptop.sessionId()
    await phone.login('alice')

    // Decision 71: the dead cookie stays, unless the visitor gets a session of express-session's own accord.
    const isNew = session.saveUninitialized === true
    const page = await laptop.get('/')
    expect(page.status).toBe(200)
    const own = page.setCookies.filter((cookie) => cookie.startsWith('connect.sid='))
    expect(own).toEqual(isNew ? [expect.stringMatching(/^connect\.sid=s%3A/)] : [])
    expect(laptop.sessionId() === ended).toBe(!isNew)
    expect(await laptop.me()).toBe(401)
    expect((await laptop.get('/cart')).json()).toEqual([])
    expect(laptop.sessionId() === ended).toBe(!isNew)
    expect(host.store.read(ended)).toBeUndefined()
    expect(await phone.me()).toBe(200)
    expect(await host.limiter.sessions.count(2)).toBe(1)
  })

  test.each(cases)('%s, a refused visitor keeps the anonymous session', async (_name, session) => {
    const host = await startExpressHost({ session, ...BLOCK })
    const laptop = await host.signedIn('alice')
    const visitor = host.browser()
    await visitor.post('/cart', { item: 'tea' })
    const id = visitor.sessionId()
    expect((await visitor.login('alice')).status).toBe(403)
    expect(visitor.sessionId()).toBe(id)
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
    expect([await visitor.me(), await laptop.me()]).toEqual([401, 200])
  })

  test("unset: 'destroy', a session that is set to null frees its slot", async () => {
    const host = await startExpressHost({ session: { unset: 'destroy' }, ...BLOCK })
    const laptop = await host.signedIn('alice')
    expect((await laptop.post('/unset')).status).toBe(204)
    expect(await host.limiter.sessions.count(2)).toBe(0)
    expect((await host.browser().login('alice')).status).toBe(200)
  })
})
