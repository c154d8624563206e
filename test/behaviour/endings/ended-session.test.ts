import { describe, expect, test } from 'vitest'
import { FAILURES, helpAt } from '../../../src/ground/help.ts'
import { tokenOf } from '../../../src/index.ts'
import { type ExpressHost, type ExpressSetup, startExpressHost } from '../../support/express-host.ts'

/** A browser whose session another login has ended. Nothing is kept about that, so no notice waits in a cookie. */
async function displaced(options: ExpressSetup = {}) {
  const host = await startExpressHost({ sessmgr: { endedMemory: 0 }, ...options })
  const laptop = await host.signedIn('alice')
  const id = laptop.sessionId()
  await host.signedIn('alice')
  return { host, laptop, id }
}

describe('the next request of an ended session', () => {
  test.each(['before', 'after'] as const)(
    'decision 71: goes on as anonymous, its cookie neither set nor cleared, sessmgr %s passport.session()',
    async (order) => {
      const { host, laptop, id } = await displaced({ order })
      laptop.cookies.set('theme', { value: 'dark', path: '/' })
      const before = [...laptop.cookies]
      for (let request = 0; request < 3; request++) {
        const page = await laptop.get('/')
        expect([page.status, page.text, page.setCookies]).toEqual([200, 'public page', []])
        const own = await laptop.get('/me')
        expect([own.status, own.setCookies]).toEqual([401, []])
      }
      expect([...laptop.cookies]).toEqual(before)
      expect(host.store.ids()).toHaveLength(1)
      expect(host.store.read(id)).toBeUndefined()
    },
  )

  test('decision 71: keeps its cookie also where the request destroys its anonymous session', async () => {
    const { host, laptop, id } = await displaced({ session: { cookie: { path: '/blog' } }, mountedAt: '/blog' })
    const answer = await laptop.post('/destroy')
    expect([answer.status, answer.setCookies]).toEqual([204, []])
    expect(await laptop.me()).toBe(401)
    expect(host.store.read(id)).toBeUndefined()
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

  test('gets one fresh anonymous session where every visitor gets one', async () => {
    const { host, laptop, id } = await displaced({ session: { saveUninitialized: true } })
    const page = await laptop.get('/')
    expect(page.status).toBe(200)
    expect(host.store.ids()).toContain(laptop.sessionId())
    expect(laptop.sessionId()).not.toBe(id)
    expect(await laptop.me()).toBe(401)
    expect(host.store.ids()).toHaveLength(2)
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

  test('decision 71: says "missing" when the store no longer has the session, as long as its cookie comes', async () => {
    const { laptop } = await displaced()
    for (let request = 0; request < 3; request++) expect(await state(laptop)).toEqual({ ended: { reason: 'missing' } })
    await laptop.post('/cart', { item: 'tea' })
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
    for (let request = 0; request < 2; request++) {
      const answer = await laptop.get('/state')
      expect([answer.json(), answer.setCookies]).toEqual([{ ended: { reason: 'ended' } }, []])
      expect(host.store.read(id)).toBeUndefined()
    }
    expect(await laptop.me()).toBe(401)
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
      `An ended session could not be deleted from the session store. It is still refused. See ${helpAt(FAILURES)}`,
      { token: tokenOf(laptop.sessionId() ?? ''), error: 'The store does not destroy.' },
    ],
  ])
  const answer = await laptop.get('/me')
  expect(answer.status).not.toBe(200)
  expect(answer.text).not.toContain('"id"')
})
