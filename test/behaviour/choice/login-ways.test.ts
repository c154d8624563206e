import { describe, expect, it, test } from 'vitest'
import type { Sessmgr } from '../../../src/index.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { ALL_HOSTS, AS_SCRIPT, ask, COOKIE, choose, codeOf, HOSTS, PAGE, startFull } from './choice-hosts.ts'

const AS_BROWSER = { accept: 'text/html' }

describe.each(ALL_HOSTS)('mode ask on %s', (_name, start) => {
  it.each([{}, { authenticate: { successRedirect: '/', failureRedirect: '/login', failureMessage: true } }])(
    'sends browsers to the page, with %j',
    async (setup) => {
      const { host, inside } = await startFull(start, setup)
      const browser = host.browser()
      const answer = await browser.login('bob', AS_BROWSER)
      expect([answer.status, answer.location, answer.headers.get('cache-control')]).toEqual([303, PAGE, 'no-store'])
      expect(answer.setCookies).toEqual([
        expect.stringMatching(/^sessmgr_pending=[\w.-]{46}; Max-Age=86700; Path=\/; HttpOnly; SameSite=Lax$/),
      ])
      expect([await browser.me(), await inside[0]?.me(), host.errors]).toEqual([401, 200, []])
    },
  )

  it('shows a page that continues the login', async () => {
    const { host, inside } = await startFull(start)
    const browser = host.browser()
    await browser.login('bob', AS_BROWSER)
    const page = await browser.get(PAGE)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const [, proof = ''] = /name="proof" value="([^"]+)"/.exec(page.text) ?? []
    const done = await browser.post(PAGE, { proof, all: '1' })
    expect([done.status, done.location]).toEqual([303, '/'])
    expect([await browser.me(), await inside[0]?.me()]).toEqual([200, 401])
    expect(browser.cookies.has(COOKIE)).toBe(false)
    expect((await browser.get(PAGE)).location).toBe('/')
    expect((await host.browser().get(PAGE)).location).toMatch(/^\/login\?choice=/)
  })

  it('answers scripts with the list, and again if they choose wrongly', async () => {
    const { host } = await startFull(start, {}, 2)
    const { browser, data } = await ask(host)
    const session = {
      token: expect.stringMatching(/^[0-9a-f]{64}$/),
      device: null,
      created_at: expect.any(Number),
      last_seen_at: expect.any(Number),
    }
    expect(data).toEqual({
      status: 409,
      need: 1,
      maximum: 2,
      expires_in: 300,
      choice_url: PAGE,
      sessions: [session, session],
    })
    const again = await choose(browser, [])
    expect(codeOf(again)).toBe('400 invalid_choice')
    expect(again.json()).toMatchObject({ data: { need: 1, sessions: [session, session] } })
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

  it('shows scripts the list again, until nothing has to be chosen', async () => {
    const { host, inside } = await startFull(start)
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

  it.each(['/callback-login', '/own-login', '/direct-login'])('hands %s the error', async (path) => {
    const { host } = await startFull(start)
    const browser = host.browser()
    const answer = await browser.login('bob', AS_BROWSER, path)
    expect(answer.status).toBe(409)
    expect(browser.cookies.has(COOKIE)).toBe(true)
    expect((await browser.get(PAGE)).status).toBe(200)
  })

  it('lets the application sign in itself, which without Passport writes its own session', async () => {
    const signingIn: { limiter?: Sessmgr } = {}
    const complete = async (request: { session: { userId: number } }, _response: unknown, user: { id: number }) => {
      await signingIn.limiter?.login(request as never, user)
      request.session.userId = user.id
    }
    const { host, inside } = await startFull(start, { choice: { complete } })
    signingIn.limiter = host.limiter
    const browser = host.browser()
    await browser.login('bob', AS_SCRIPT, '/direct-login')
    const sessions = await host.limiter.sessions.list(3)
    expect(
      codeOf(
        await choose(
          browser,
          sessions.map(({ token }) => token),
        ),
      ),
    ).toBe('200 ok')
    expect([await browser.me(), await inside[0]?.me()]).toEqual([200, 401])
  })

  it('knows the browser afterwards, which is not asked again', async () => {
    const { host } = await startFull(start, { sessmgr: { device: true } })
    const { browser, tokens } = await ask(host)
    const { setCookies } = await choose(browser, tokens)
    const names = setCookies.map((cookie) => cookie.split('=')[0])
    expect(names).toEqual(expect.arrayContaining(['sessmgr_device', COOKIE]))
    const forgetful = host.browser()
    forgetful.cookies.set('sessmgr_device', browser.cookies.get('sessmgr_device') as never)
    expect((await forgetful.login('bob', AS_SCRIPT)).status).toBe(200)
    expect([await forgetful.me(), await browser.me()]).toEqual([200, 401])
  })

  it('refuses like mode block where no page is mounted', async () => {
    const { host } = await startFull(start, { choice: undefined })
    const answer = await host.browser().login('bob', AS_SCRIPT)
    expect(codeOf(answer)).toBe('403 login_limit_reached')
  })
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
