import type { SessionData, SessionOptions } from 'express-session'
import { describe, expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { TestStore } from '../../support/test-store.ts'

const BLOCK = { settings: { maximum: 1, logic: 'block' } } as const

test("rule 14: a slot is free at once after the application's own code destroyed the session in the store", async () => {
  const host = await startExpressHost(BLOCK)
  const laptop = await host.signedIn('alice')
  await new Promise((resolve) => host.store.destroy(laptop.sessionId() ?? '', resolve))
  expect([await laptop.me(), await host.limiter.sessions.count(2)]).toEqual([401, 0])
  expect((await host.browser().login('alice')).status).toBe(200)
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

describe("the store's set", () => {
  test('rule 5: may answer twice, as one that calls back both itself and by its driver', async () => {
    class TwiceStore extends TestStore {
      override set(sessionId: string, data: SessionData, callback?: (error?: unknown) => void): void {
        super.set(sessionId, data)
        callback?.()
        callback?.()
      }
    }
    const host = await startExpressHost({ store: new TwiceStore(), ...BLOCK })
    const laptop = await host.signedIn('alice')
    expect((await host.browser().login('alice')).status).toBe(403)
    expect([await laptop.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
  })
})

describe.each<[string, Partial<SessionOptions>]>([
  ['saveUninitialized: true', { saveUninitialized: true }],
  ['resave: true', { resave: true }],
  ['rolling: true', { rolling: true, cookie: { maxAge: 60_000 } }],
  ["unset: 'destroy'", { unset: 'destroy' }],
  [
    'everything',
    { saveUninitialized: true, resave: true, rolling: true, unset: 'destroy', cookie: { maxAge: 60_000 } },
  ],
])('with the express-session options %s', (_name, session) => {
  test('a refused visitor keeps the anonymous session; a displaced one is over and its cart does not come back', async () => {
    const host = await startExpressHost({ session, ...BLOCK })
    const [laptop, phone] = [host.browser(), host.browser()]
    await laptop.get('/')
    await laptop.login('alice')
    await laptop.post('/cart', { item: 'tea' })
    await phone.post('/cart', { item: 'hat' })
    const anonymous = phone.sessionId()
    expect((await phone.login('alice')).status).toBe(403)
    expect([phone.sessionId(), (await phone.get('/cart')).json()]).toEqual([anonymous, ['hat']])
    expect([await phone.me(), await laptop.me()]).toEqual([401, 200])

    await host.limiter.settings.update({ logic: 'allow' })
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
    expect([await phone.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
  })
})

test("with unset: 'destroy', a session that is set to null frees its slot", async () => {
  const host = await startExpressHost({ session: { unset: 'destroy' }, ...BLOCK })
  const laptop = await host.signedIn('alice')
  expect((await laptop.post('/unset')).status).toBe(204)
  expect(await host.limiter.sessions.count(2)).toBe(0)
  expect((await host.browser().login('alice')).status).toBe(200)
})
