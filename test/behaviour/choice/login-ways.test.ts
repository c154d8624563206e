import { describe, expect, it, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { ALL_HOSTS, AS_SCRIPT, ask, COOKIE, choose, codeOf, HOSTS, PAGE, startFull } from './choice-hosts.ts'

const AS_BROWSER = { accept: 'text/html' }

describe.each(ALL_HOSTS)('mode ask on %s', (_name, start) => {
  it('sends browsers to a page that continues the login, with a session of its own', async () => {
    const authenticate = { successRedirect: '/', failureRedirect: '/login', failureMessage: true }
    const { host, inside } = await startFull(start, { authenticate })
    const browser = host.browser()
    await browser.post('/cart', { item: 'tea' })
    const [before, planted] = [host.sessionIdOf(browser), browser.copy()]
    const answer = await browser.login('bob', AS_BROWSER)
    expect([answer.status, answer.location, answer.headers.get('cache-control')]).toEqual([303, PAGE, 'no-store'])
    expect(answer.setCookies.filter((cookie) => cookie.startsWith(COOKIE))).toEqual([
      expect.stringMatching(/^sessmgr_pending=[\w.-]{46}; Max-Age=86700; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    expect([await browser.me(), await inside[0]?.me(), host.errors]).toEqual([401, 200, []])
    expect([host.sessionIdOf(browser), (await browser.get('/state')).json()]).toEqual([before, {}])

    const page = await browser.get(PAGE)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const [, proof = ''] = /name="proof" value="([^"]+)"/.exec(page.text) ?? []
    const foreign = await browser.post(PAGE, { proof, all: '1' }, { 'sec-fetch-site': 'cross-site' })
    expect([foreign.status, await inside[0]?.me()]).toEqual([403, 200])
    const done = await browser.post(PAGE, { proof, all: '1' })
    expect([done.status, done.location]).toEqual([303, '/'])
    expect([await browser.me(), await inside[0]?.me(), await planted.me()]).toEqual([200, 401, 401])
    expect(host.sessionIdOf(browser)).not.toBe(before)
    expect(browser.cookies.has(COOKIE)).toBe(false)
    expect((await browser.get(PAGE)).location).toBe('/')
    expect((await host.browser().get(PAGE)).location).toMatch(/^\/login\?choice=/)
  })

  it('answers scripts with the list, again if they choose wrongly, and makes one login of many choices', async () => {
    const { host } = await startFull(start, {}, 2)
    const { browser, data, tokens } = await ask(host)
    const session = {
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
      device: null,
      created_at: expect.any(Number),
      last_seen_at: expect.any(Number),
    }
    const sessions = [session, session]
    expect(data).toEqual({ status: 409, need: 1, maximum: 2, expires_in: 300, choice_url: PAGE, sessions })
    const again = await choose(browser, [])
    expect(codeOf(again)).toBe('400 invalid_choice')
    expect(again.json()).toMatchObject({ data: { need: 1, sessions } })
    expect(codeOf(await choose(browser, tokens, { origin: 'https://evil.example' }))).toBe('403 rest_cross_origin')
    expect(codeOf(await choose(host.browser(), tokens))).toBe('410 login_choice_expired')

    const copies = Array.from({ length: 8 }, () => browser.copy())
    const codes = (await Promise.all(copies.map((copy) => choose(copy, tokens.slice(0, 1))))).map(codeOf)
    expect(codes.filter((code) => code === '200 ok')).toHaveLength(1)
    // One that was read before the first was taken may find the session of its choice gone.
    expect(codes).not.toContain(expect.not.stringMatching(/^(200 ok|410 login_choice_expired|400 invalid_choice)$/))
    const live = await Promise.all(copies.map((copy) => copy.me()))
    expect(live.filter((status) => status === 200)).toHaveLength(1)
    expect(await host.limiter.sessions.count(3)).toBe(2)
  })
})

describe.each(HOSTS)('mode ask with Passport on %s', (_name, start) => {
  it('answers a login that is sent as JSON with the list, as long as it does not ask for a page', async () => {
    const { host } = await startFull(start)
    const path = '/login?username=bob&password=secret'
    const logIn = (accept: string) => host.browser().request('POST', path, { json: {}, headers: { accept } })
    expect(codeOf(await logIn('*/*'))).toBe('409 login_choice_required')
    expect((await logIn('text/html,*/*;q=0.8')).location).toBe(PAGE)
  })

  it('hands the application the error of its own call', async () => {
    const { host } = await startFull(start)
    for (const path of ['/callback-login', '/own-login', '/direct-login']) {
      const browser = host.browser()
      expect([path, (await browser.login('bob', AS_BROWSER, path)).status]).toEqual([path, 409])
      expect(browser.cookies.has(COOKIE), path).toBe(true)
      expect((await browser.get(PAGE)).status, path).toBe(200)
    }
  })
})

test('scripts are shown the list again, until nothing has to be chosen', async () => {
  const { host, inside } = await startFull(startExpressHost)
  const { browser, data } = await ask(host)
  const again = await browser.request('GET', PAGE, { headers: AS_SCRIPT })
  expect(codeOf(again)).toBe('409 login_choice_required')
  expect(again.json()).toEqual(expect.objectContaining({ data: { ...data, expires_in: expect.any(Number) } }))
  await inside[0]?.post('/logout')
  const room = await browser.request('GET', PAGE, { headers: AS_SCRIPT })
  expect(room.json()).toMatchObject({ code: 'login_choice_required', data: { need: 0, sessions: [] } })
  expect((await choose(browser, [])).json()).toEqual({ signed_in: true, ended: 0 })
  expect(codeOf(await browser.request('GET', PAGE, { headers: AS_SCRIPT }))).toBe('410 login_choice_expired')
})

test('a browser that has chosen is known afterwards, and is not asked again', async () => {
  const { host } = await startFull(startExpressHost, { sessmgr: { device: true } })
  const { browser, tokens } = await ask(host)
  const { setCookies } = await choose(browser, tokens)
  const names = setCookies.map((cookie) => cookie.split('=')[0])
  expect(names).toEqual(expect.arrayContaining(['sessmgr_device', COOKIE]))
  const forgetful = host.browser()
  forgetful.cookies.set('sessmgr_device', browser.cookies.get('sessmgr_device') as never)
  expect((await forgetful.login('bob', AS_SCRIPT)).status).toBe(200)
  expect([await forgetful.me(), await browser.me()]).toEqual([200, 401])
})

test('mode ask refuses like mode block where no page is mounted', async () => {
  const { host } = await startFull(startExpressHost, { choice: undefined })
  expect(codeOf(await host.browser().login('bob', AS_SCRIPT))).toBe('403 login_limit_reached')
})

test('failWithError hands the error to the application', async () => {
  const { host } = await startFull(startExpressHost, { authenticate: { failWithError: true } })
  for (const headers of [AS_SCRIPT, AS_BROWSER]) {
    const answer = await host.browser().login('bob', headers)
    expect([answer.status, answer.json()]).toMatchObject([
      409,
      { handledByApplication: true, code: 'login_choice_required' },
    ])
  }
})
