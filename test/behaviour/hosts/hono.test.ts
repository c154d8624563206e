import { expect, test } from 'vitest'
import { memoryStore, tokenOf } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { inParallel } from '../../support/in-parallel.ts'
import { startHonoHost } from './hono-host.ts'

type Hono = Awaited<ReturnType<typeof startHonoHost>>

const sid = (browser: Browser) => browser.cookies.get('sid')?.value ?? ''

async function signedIn(host: Hono, login = 'alice'): Promise<Browser> {
  const browser = host.browser()
  expect((await browser.login(login)).status).toBe(200)
  return browser
}

test('rule 3: allow ends all old sessions, whose cookies go', async () => {
  const host = await startHonoHost({ settings: { maximum: 2, logic: 'allow' } })
  const old = [await signedIn(host), await signedIn(host)]
  const young = await signedIn(host)
  expect(await inParallel(2, 2, (n) => (old[n] as Browser).me())).toEqual([401, 401])
  expect(old.map((browser) => browser.cookies.has('sid'))).toEqual([false, false])
  expect(await young.me()).toBe(200)
  expect([...host.sessions.keys()]).toEqual([sid(young)])
})

test('rule 4: logout_oldest ends the oldest session, which is told so', async () => {
  const host = await startHonoHost({ settings: { maximum: 2, logic: 'logout_oldest' } })
  const [first, second, third] = [await signedIn(host), await signedIn(host), await signedIn(host)]
  expect((await first.get('/state')).json()).toMatchObject({ ended: { reason: 'missing' } })
  expect(await inParallel(2, 2, (n) => ([second, third][n] as Browser).me())).toEqual([200, 200])
  expect((await third.get('/state')).json()).toEqual({ session: { userId: 2, token: tokenOf(sid(third)) } })
  expect(host.actions).toEqual([['sessmgr_destroy_oldest_session', 2]])
})

test('rule 11: block creates no session for a refused login', async () => {
  const host = await startHonoHost({ settings: { maximum: 1, logic: 'block' } })
  const browser = await signedIn(host)
  const refused = await host.browser().login('alice')
  expect([refused.status, refused.setCookies]).toEqual([403, []])
  expect([...host.sessions.keys()]).toEqual([sid(browser)])
  expect(host.actions).toEqual([['sessmgr_login_blocked', 2]])
})

test('rule 7: a login in the same browser replaces its session', async () => {
  const host = await startHonoHost({ settings: { maximum: 1, logic: 'block' } })
  const browser = await signedIn(host)
  const before = sid(browser)
  expect((await browser.login('alice')).status).toBe(200)
  expect(sid(browser)).not.toBe(before)
  expect([...host.sessions.keys()]).toEqual([sid(browser)])
})

test('rule 7: a login in the same browser replaces its session, even if its cookie is gone', async () => {
  const host = await startHonoHost({ settings: { maximum: 1, logic: 'block' }, device: true })
  const browser = host.browser()
  for (let count = 0; count < 50; count++) {
    browser.cookies.delete('sid')
    expect((await browser.login('alice')).status).toBe(200)
    expect([...host.sessions.keys()]).toEqual([sid(browser)])
  }
  expect((await host.browser().login('alice')).status).toBe(403)
  expect((await browser.login('bob')).status).toBe(200)
  expect(browser.cookies.get('sessmgr_device')?.path).toBe('/')
  expect(host.actions).toEqual([['sessmgr_login_blocked', 2]])
})

test('rule 46: a request whose session is ended before its body comes does not sign the same user in again', async () => {
  const host = await startHonoHost({ settings: { maximum: 1, logic: 'allow' } })
  for (const [username, expected] of [
    ['alice', { status: 401, text: '{"code":"session_ended"}', me: 401, counts: [0, 0] }],
    ['bob', { status: 200, text: 'signed in', me: 200, counts: [0, 1] }],
  ] as const) {
    const browser = await signedIn(host)
    const { finish } = browser.hold(`/login?arrival=${username}`, { username, password: 'secret' })
    await host.gates.at(username).arrived
    await host.limiter.sessions.endAll(2)
    const { status, text } = await finish()
    const counts = [await host.limiter.sessions.count(2), await host.limiter.sessions.count(3)]
    expect({ status, text, me: await browser.me(), counts }).toEqual(expected)
  }
  expect((await host.browser().login('alice')).status).toBe(200)
})

test('rule 14: a logout frees the slot at once', async () => {
  const host = await startHonoHost({ settings: { maximum: 1, logic: 'block' } })
  const browser = await signedIn(host)
  expect((await browser.post('/logout')).status).toBe(204)
  expect([await host.limiter.sessions.count(2), host.sessions.size]).toEqual([0, 0])
  await signedIn(host)
})

test.each(['allow', 'logout_oldest', 'block'])('rule 5: 50 parallel logins in mode %s', async (logic) => {
  const [store, sessions] = [memoryStore(), new Map()]
  const options = { store, settings: { maximum: 3, logic } }
  const hosts = [await startHonoHost(options, sessions), await startHonoHost(options, sessions)]
  const browsers = Array.from({ length: 50 }, (_, n) => (hosts[n % 2] as Hono).browser())
  const answers = await inParallel(50, 50, (n) => (browsers[n] as Browser).login('alice'))
  const accepted = answers.filter(({ status }) => status === 200).length
  expect(accepted).toBe(logic === 'block' ? 3 : 50)
  expect(answers.filter(({ status }) => status === 403).length).toBe(50 - accepted)
  const ids = browsers.map(sid)
  const visits = await inParallel(50, 50, (n) => (browsers[n] as Browser).me())
  const working = ids.filter((_, n) => visits[n] === 200)
  expect([...sessions.keys()].toSorted()).toEqual(working.toSorted())
  if (logic === 'allow') expect([1, 2, 3]).toContain(working.length)
  else expect(working.length).toBe(3)
})

test('rule 16: a site-wide logout makes every session anonymous, once each', async () => {
  const host = await startHonoHost({ settings: { maximum: 5 } })
  const browsers = await inParallel(3, 3, () => signedIn(host))
  const tokens = browsers.map((browser) => tokenOf(sid(browser)))
  await host.limiter.sessions.logoutAllUsers()
  const copies = browsers.flatMap((browser) => Array.from({ length: 8 }, () => browser.copy()))
  const states = await Promise.all(copies.map(async (copy) => (await copy.get('/state')).json()))
  expect(states).toContainEqual({ ended: expect.objectContaining({ reason: 'logout_all' }) })
  expect(states.some((state) => 'session' in state)).toBe(false)
  const invalidated = host.actions.filter(([name]) => name === 'sessmgr_session_invalidated')
  expect(invalidated.map(([, , token]) => token).toSorted()).toEqual(tokens.toSorted())
  expect(host.sessions.size).toBe(0)
  await signedIn(host)
})

test('a slow request that writes its session after the end does not bring it back', async () => {
  const host = await startHonoHost()
  const browser = await signedIn(host)
  const held = browser.copy().post('/hold/gate')
  await host.gates.at('gate').arrived
  await host.limiter.sessions.endAll(2)
  host.gates.at('gate').open()
  expect((await held).status).toBe(204)
  expect((await browser.get('/state')).json()).toMatchObject({ ended: { reason: 'ended' } })
  expect([await host.limiter.sessions.count(2), host.sessions.size]).toEqual([0, 0])
})

test('the REST routes know who calls by cookie and nonce', async () => {
  const host = await startHonoHost()
  const browser = await signedIn(host)
  const nonce = (await browser.get('/nonce')).text
  expect(nonce).not.toBe('')
  expect((await browser.get('/api/sessmgr/v1/sessions?user=2')).status).toBe(401)
  const answer = await browser.get('/api/sessmgr/v1/sessions?user=2', { headers: { 'X-HOST-Nonce': nonce } })
  expect(answer.status).toBe(200)
  expect(answer.json()).toMatchObject({ sessions: [{ token: tokenOf(sid(browser)), current: true }] })
  const stranger = await signedIn(host, 'bob')
  const foreign = { headers: { 'X-HOST-Nonce': (await stranger.get('/nonce')).text } }
  expect((await stranger.get('/api/sessmgr/v1/sessions?user=2', foreign)).status).toBe(403)
})

test('a path below the REST routes that is not theirs stays that of the application', async () => {
  const host = await startHonoHost()
  const browser = host.browser()
  expect((await browser.get('/api/mine')).text).toBe('mine')
  expect((await browser.get('/api/none')).status).toBe(404)
})

test('the admin screen knows who calls', async () => {
  const host = await startHonoHost()
  const [admin, stranger] = [await signedIn(host), await signedIn(host, 'bob')]
  expect((await admin.get('/admin/settings')).status).toBe(200)
  expect((await stranger.get('/admin/settings')).status).toBe(403)
  expect((await host.browser().get('/admin/settings')).location).toMatch(/^\/login/)
})

test('a login over the session of another user frees the slot of that one', async () => {
  const host = await startHonoHost({ settings: { maximum: 1, logic: 'block' } })
  const browser = await signedIn(host)
  expect((await browser.login('bob')).status).toBe(200)
  expect([await host.limiter.sessions.count(2), await host.limiter.sessions.count(3)]).toEqual([0, 1])
  expect([...host.sessions.keys()]).toEqual([sid(browser)])
})
