import { describe, expect, it, test, vi } from 'vitest'
import { memoryStore } from '../../../src/index.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { users } from '../../support/host-under-test.ts'
import { ALL_HOSTS, AS_SCRIPT, ask, COOKIE, choose, codeOf, PAGE, signIn, startFull } from './choice-hosts.ts'

const BOB = 3
const EXPIRED = '410 login_choice_expired'
const INVALID = '400 invalid_choice'

describe.each(ALL_HOSTS)('a choice on %s', (_name, start) => {
  it('from another site is refused, and spends nothing', async () => {
    const { host, inside } = await startFull(start)
    const { browser, tokens } = await ask(host)
    const foreign = [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of foreign) {
      expect(codeOf(await choose(browser, tokens, headers))).toBe('403 rest_cross_origin')
      const form = await browser.post(PAGE, { end: tokens[0] ?? '' }, headers)
      expect(form.status).toBe(403)
    }
    expect([await inside[0]?.me(), await browser.me()]).toEqual([200, 401])
    expect(codeOf(await choose(browser, tokens))).toBe('200 ok')
    expect([await inside[0]?.me(), await browser.me()]).toEqual([401, 200])
  })

  it('needs the secret, which no other place than the cookie has', async () => {
    const { host, inside } = await startFull(start)
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

  it('that names sessions of others, no session, too few or too many ends nothing and spends nothing', async () => {
    const { host, inside } = await startFull(start, {}, 2)
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

  it('makes one login of twenty that are sent at once, and none of one that is sent again', async () => {
    const { host } = await startFull(start)
    const { browser, tokens } = await ask(host)
    const copies = Array.from({ length: 20 }, () => browser.copy())
    const codes = (await Promise.all(copies.map((copy) => choose(copy, tokens)))).map(codeOf)
    expect(codes.filter((code) => code === '200 ok')).toHaveLength(1)
    // One that was read before the first was taken may find the session of its choice gone.
    expect(codes.filter((code) => code !== '200 ok' && code !== EXPIRED && code !== INVALID)).toEqual([])
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
    const live = await host.limiter.sessions.list(BOB)
    expect(codeOf(await choose(browser.copy(), [live[0]?.token]))).toBe(EXPIRED)
    const inside = await Promise.all(copies.map((copy) => copy.me()))
    expect(inside.filter((status) => status === 200)).toHaveLength(1)
  })

  it('of two for one place is admitted once, and the other is asked again', async () => {
    const { host } = await startFull(start, {}, 2)
    const one = await ask(host)
    const other = await ask(host)
    const end = one.tokens.slice(0, 1)
    const answers = await Promise.all([one, other].map(({ browser }) => choose(browser, end)))
    const again = answers.find(({ status }) => status !== 200)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, expect.any(Number)])
    expect(again && codeOf(again)).toMatch(/^(400 invalid_choice|409 login_choice_required)$/)
    const { data } = again?.json<{ data: typeof one.data }>() ?? {}
    expect(data).toMatchObject({ need: 1, maximum: 2 })
    expect(data?.sessions.map(({ token }) => token)).not.toContain(end[0])
    const late = answers[0] === again ? one : other
    expect(
      codeOf(
        await choose(
          late.browser,
          data?.sessions.slice(0, 1).map(({ token }) => token),
        ),
      ),
    ).toBe('200 ok')
    expect(await host.limiter.sessions.count(BOB)).toBe(2)
  })

  it('gets a session of its own, which no id from before reaches', async () => {
    const { host } = await startFull(start)
    const browser = host.browser()
    await browser.post('/cart', { item: 'tea' })
    const before = host.sessionIdOf(browser)
    const planted = browser.copy()
    const { tokens } = await ask(host, browser)
    expect(host.sessionIdOf(browser)).toBe(before)
    expect(codeOf(await choose(browser, tokens))).toBe('200 ok')
    expect(host.sessionIdOf(browser)).not.toBe(before)
    expect([await browser.me(), await planted.me()]).toEqual([200, 401])
  })

  it('is over once the password was changed, or everybody was signed out', async () => {
    const { host } = await startFull(start)
    const { sessions } = host.limiter
    for (const end of [() => sessions.endAll(BOB), () => sessions.logoutAllUsers()]) {
      const { browser, tokens } = await ask(host)
      await end()
      expect(codeOf(await choose(browser, tokens))).toBe(EXPIRED)
      await signIn(host, 'bob')
    }
  })

  it('opens nothing before it is made', async () => {
    const { host } = await startFull(start)
    const { browser } = await ask(host)
    expect([await browser.me(), (await browser.get('/state')).text.includes('session')]).toEqual([401, false])
    expect((await browser.get('/api/sessmgr/v1/me/sessions')).status).toBe(401)
    expect(await host.limiter.sessions.count(BOB)).toBe(1)
  })

  it('is not asked of an administrator who signs in as the user', async () => {
    const { host, inside } = await startFull(start)
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test/impersonation', () => true)
    const browser = host.browser()
    expect((await browser.login('bob', AS_SCRIPT)).status).toBe(200)
    expect([await browser.me(), await inside[0]?.me(), browser.cookies.has(COOKIE)]).toEqual([200, 200, false])
  })
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
