import { expect, test, vi } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { users } from '../../support/host-under-test.ts'
import { AS_SCRIPT, ask, COOKIE, choose, codeOf, PAGE, signIn, startFull } from './choice-hosts.ts'

const BOB = 3
const EXPIRED = '410 login_choice_expired'
const INVALID = '400 invalid_choice'

test('a choice needs the secret, which no other place than the cookie has', async () => {
  const { host, inside } = await startFull(startExpressHost)
  const { tokens, secret = '' } = await ask(host)
  for (const planted of ['', 'x', 'x'.repeat(43), 'x'.repeat(3000), `${secret.slice(1)}A`, 'a%00b', '%E0%A4%A']) {
    const browser = host.browser()
    if (planted) browser.cookies.set(COOKIE, { value: planted, path: '/' })
    expect(codeOf(await choose(browser, tokens))).toBe(EXPIRED)
    const page = await browser.get(PAGE)
    expect([page.status, page.location]).toEqual([303, expect.stringMatching(/^\/login\?choice=/)])
  }
  const inBody = await host
    .browser()
    .request('POST', PAGE, { json: { end: tokens, pending: secret }, headers: AS_SCRIPT })
  expect(codeOf(inBody)).toBe(EXPIRED)
  expect(await inside[0]?.me()).toBe(200)
})

test('a choice that names sessions of others, no session, too few or too many ends nothing and spends nothing', async () => {
  const { host, inside } = await startFull(startExpressHost, {}, 2)
  const alice = await signIn(host, 'alice')
  const [foreign] = await host.limiter.sessions.list(2)
  const { browser, tokens } = await ask(host)
  const unknown = 'a'.repeat(64)
  const wrong = [
    [],
    [foreign?.token],
    [unknown],
    [''],
    [null, 7, {}],
    'x',
    {},
    null,
    Array(10_000).fill(unknown),
    Array(101).fill(tokens[0]),
  ]
  for (const end of wrong) {
    const answer = await choose(browser, end)
    expect(codeOf(answer), JSON.stringify(end)?.slice(0, 100)).toBe(INVALID)
  }
  expect(await Promise.all([alice, ...inside, browser].map((one) => one.me()))).toEqual([200, 200, 200, 401])
  const answer = await choose(browser, tokens.slice(0, 1))
  expect(answer.json()).toEqual({ signed_in: true, ended: 1 })
  expect([await host.limiter.sessions.count(BOB), await alice.me()]).toEqual([2, 200])
})

test('a choice is not asked of an administrator who signs in as the user', async () => {
  const { host, inside } = await startFull(startExpressHost)
  host.limiter.hooks.addFilter('sessmgr_bypass', 'test/impersonation', () => true)
  const browser = host.browser()
  expect((await browser.login('bob', AS_SCRIPT)).status).toBe(200)
  expect([await browser.me(), await inside[0]?.me(), browser.cookies.has(COOKIE)]).toEqual([200, 200, false])
})

test('a password that is changed while a second proof is checked lets nobody in', async () => {
  const during: { change?: () => Promise<unknown> } = {}
  const verify = async () => (await during.change?.()) !== null
  const { host } = await startFull(startExpressHost, { choice: { verify } })
  for (const change of [() => host.limiter.sessions.endAll(BOB), () => host.limiter.sessions.logoutAllUsers()]) {
    during.change = change
    const { browser, tokens } = await ask(host)
    const answer = await browser.request('POST', PAGE, { json: { end: tokens, code: '1' }, headers: AS_SCRIPT })
    expect([codeOf(answer), await browser.me(), await host.limiter.sessions.count(BOB)]).toEqual([EXPIRED, 401, 0])
    await signIn(host, 'bob')
  }
})

test('a secret that a sibling domain has planted is not read where the session is sent over HTTPS', async () => {
  const session = { proxy: true, cookie: { secure: true } }
  const https = { 'x-forwarded-proto': 'https', ...AS_SCRIPT }
  const host = await startExpressHost({ choice: {}, session, settings: { maximum: 1, logic: 'ask' } })
  const inside = host.browser()
  await inside.login('bob', https)
  const attacker = host.browser()
  const { data } = (await attacker.login('bob', https)).json<{ data: { sessions: { token: string }[] } }>()
  const tokens = data.sessions.map(({ token }) => token)
  const secret = attacker.cookies.get(`__Host-${COOKIE}`)?.value ?? ''
  const victim = host.browser()
  victim.cookies.set(COOKIE, { value: secret, path: '/' })
  expect(codeOf(await choose(victim, tokens, https))).toBe(EXPIRED)
  expect(codeOf(await choose(attacker, tokens, https))).toBe('200 ok')
})

test('a login that waits is no failed one, and a store that is away opens none', async () => {
  const attempts = { allow: vi.fn(async () => true), failed: vi.fn(async () => {}) }
  const store = memoryStore()
  const { host } = await startFull(startExpressHost, { sessmgr: { store, host: { ...users, attempts } } })
  await ask(host)
  expect([attempts.allow.mock.calls, attempts.failed.mock.calls]).toEqual([[], []])
  store.sessions.changeState = async () => {
    throw new Error('down')
  }
  const browser = host.browser()
  expect((await browser.login('bob', AS_SCRIPT)).status).toBeGreaterThanOrEqual(500)
  expect(browser.cookies.has(COOKIE)).toBe(false)
})
