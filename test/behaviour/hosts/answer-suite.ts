import { describe, expect, test } from 'vitest'
import type { TextsOption } from '../../../src/index.ts'
import type { StartHost } from '../../support/host-under-test.ts'
import { loseRace } from '../../support/lose-race.ts'
import { wholeSettings } from '../../support/whole-settings.ts'
import { BLOCK, LOGIN_PATHS, OLDEST, suiteTools } from './suite-tools.ts'

const JSON_ONLY = { accept: 'application/json' }

/** What every host answers: to refused logins, on the REST routes and the admin screen, and when the store fails. */
export function describeAnswers(startHost: StartHost): void {
  const { start, startTwo, signedIn } = suiteTools(startHost)

  describe('rule 11: a refused login looks like a wrong password', () => {
    const options = { successRedirect: '/', failureRedirect: '/login', failureMessage: true }

    test('honours failureRedirect and failureMessage, with successRedirect set', async () => {
      const host = await start(BLOCK, { authenticate: options })
      const winner = host.browser()
      expect((await winner.login('alice')).location).toBe('/')
      const visitor = host.browser()
      const refused = await visitor.login('alice')
      expect([refused.status, refused.location]).toEqual([302, '/login'])
      expect((await visitor.get('/messages')).json().messages).toEqual([
        "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",
      ])
      expect([await visitor.me(), await winner.me()]).toEqual([401, 200])
    })

    test('answers with 403, with successRedirect but no failureRedirect', async () => {
      const host = await start(BLOCK, { authenticate: { successRedirect: '/' } })
      await host.browser().login('alice')
      const refused = await host.browser().login('alice')
      expect([refused.status, refused.location]).toEqual([403, null])
    })

    test('answers a client that asks for JSON with 403 and the code', async () => {
      const host = await start(BLOCK, { authenticate: options })
      host.limiter.hooks.addFilter('sessmgr_error_message', 'test', () => 'Two <b>devices</b> at most.')
      await host.browser().login('alice')
      const refused = await host.browser().login('alice', JSON_ONLY)
      expect([refused.status, refused.json()]).toEqual([
        403,
        { code: 'login_limit_reached', message: 'Two <b>devices</b> at most.', data: { status: 403 } },
      ])
      expect(refused.headers.get('cache-control')).toBe('no-store')
    })

    test('rule 40: speaks the language of the request', async () => {
      const texts: TextsOption = ({ headers }) =>
        headers['accept-language'] === 'de' ? { login_blocked: 'Zu viele Geräte.' } : {}
      const host = await start(BLOCK, { authenticate: options, sessmgr: { texts } })
      await host.browser().login('alice')
      const inLanguage = async (language: string) => {
        const refused = await host.browser().login('alice', { ...JSON_ONLY, 'accept-language': language })
        return refused.json().message
      }
      expect(await inLanguage('de')).toBe('Zu viele Geräte.')
      expect(await inLanguage('en')).toMatch(/^You've reached the limit/)
    })

    test('redirects who lost a race, and gives no session to who had none', async () => {
      const [here, there] = await startTwo(BLOCK, { authenticate: { successRedirect: '/', failureRedirect: '/login' } })
      const visitor = here.browser()
      const [{ location }] = await loseRace(
        here,
        () => visitor.login('alice'),
        () => there.browser().login('alice'),
      )
      expect(location).toBe('/login')
      expect([visitor.cookies.size, here.sessions.ids().length]).toEqual([0, 1])
    })

    test('leaves a wrong password to Passport', async () => {
      const host = await start(BLOCK, { authenticate: options })
      const refused = await host.browser().post('/login', { username: 'alice', password: 'wrong' })
      expect([refused.status, refused.location]).toEqual([302, '/login'])
      expect(host.actions).toEqual([])
    })

    test('leaves who is signed in as somebody else signed in', async () => {
      const host = await start(BLOCK)
      await signedIn(host, 'alice')
      const bob = await signedIn(host, 'bob')
      expect((await bob.login('alice')).status).toBe(403)
      expect((await bob.get('/me')).json()).toEqual({ id: 3 })
    })
  })

  describe('the REST routes', () => {
    test('answer an administrator with cookie and nonce, and nobody else', async () => {
      const host = await start({ maximum: 4, logic: 'block' })
      const alice = await signedIn(host, 'alice')
      const nonce = (await alice.get('/nonce')).text
      const path = '/api/sessmgr/v1/settings'
      const answer = await alice.get(path, { headers: { 'x-host-nonce': nonce } })
      expect([answer.status, answer.json()]).toEqual([200, wholeSettings({ maximum: 4, logic: 'block' })])
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('x-host-nonce')).toMatch(/./)

      const anonymous = await host.browser().get(path)
      expect([anonymous.status, anonymous.json().code]).toEqual([401, 'rest_forbidden'])
      expect((await alice.get(path)).status).toBe(401)
      const bob = await signedIn(host, 'bob')
      const bobs = { 'x-host-nonce': (await bob.get('/nonce')).text }
      expect((await bob.get(path, { headers: bobs })).status).toBe(403)
      expect((await host.browser().get('/nonce')).text).toBe('')
    })

    test('answer a list that the caller has with 304, to those alone who may read it', async () => {
      const host = await start({ maximum: 4, logic: 'block' })
      const [alice, bob] = [await signedIn(host, 'alice'), await signedIn(host, 'bob')]
      const [alices, bobs] = [(await alice.get('/nonce')).text, (await bob.get('/nonce')).text]
      const poll = async (browser: typeof alice, nonce: string, tag = '', user = 'bob') => {
        const headers = { 'x-host-nonce': nonce, ...(tag && { 'if-none-match': tag }) }
        const answer = await browser.get(`/api/sessmgr/v1/sessions?user=${user}`, { headers })
        return { ...answer, tag: answer.headers.get('etag') ?? '' }
      }
      const first = await poll(alice, alices)
      expect([first.status, first.json().sessions]).toMatchObject([200, [{ ip: expect.any(String) }]])
      expect(first.tag).toMatch(/^"[\w-]{43}"$/)
      for (const known of [first.tag, `W/${first.tag}`, `"other", ${first.tag}`, '*']) {
        const { status, text, tag, headers } = await poll(alice, alices, known)
        expect([status, text, tag, headers.get('cache-control')]).toEqual([304, '', first.tag, 'no-store'])
        expect([headers.get('content-type'), headers.get('x-host-nonce')]).toEqual([null, expect.stringMatching(/./)])
      }
      for (const known of [first.tag, '*']) {
        const refused = [await poll(bob, bobs, known), await poll(host.browser(), '', known)]
        refused.push(await poll(alice, 'wrong', known), await poll(alice, alices, known, 'nobody'))
        expect(refused.map(({ status, tag }) => [status, tag])).toEqual([403, 401, 403, 404].map((one) => [one, '']))
      }
      await signedIn(host, 'bob')
      const changed = await poll(alice, alices, first.tag)
      expect([changed.status, changed.json().sessions]).toMatchObject([200, [{}, {}]])
      expect(changed.tag).not.toBe(first.tag)
    })

    test('read JSON, and say in their own words what is wrong with it', async () => {
      const host = await start({ maximum: 4, logic: 'block' })
      const alice = await signedIn(host, 'alice')
      const send = async (body: string) => {
        const cookie = [...alice.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
        const nonce = (await alice.get('/nonce')).text
        const headers = { cookie, 'x-host-nonce': nonce, 'content-type': 'application/json' }
        const answer = await fetch(`${host.origin}/api/sessmgr/v1/settings`, { method: 'POST', headers, body })
        return [answer.status, (await answer.json()) as { code?: string }] as const
      }
      expect(await send('{"maximum":7,"logic":"allow"}')).toMatchObject([200, { maximum: 7, logic: 'allow' }])
      expect(await host.limiter.settings.get()).toEqual(wholeSettings({ maximum: 7, logic: 'allow' }))
      expect(await send('{')).toMatchObject([400, { code: 'rest_invalid_json' }])
      expect(await send('{"maximum":0}')).toMatchObject([400, { code: 'rest_invalid_param' }])
      expect(await host.limiter.settings.get()).toEqual(wholeSettings({ maximum: 7, logic: 'allow' }))
    })

    test('answer what they do not know, and leave the rest to the application', async () => {
      const host = await start(BLOCK)
      const unknown = await host.browser().get('/api/sessmgr/v1/nothing')
      expect([unknown.status, unknown.json().code]).toEqual([404, 'rest_no_route'])
      const foreign = await host.browser().get('/api/other')
      expect([foreign.status, foreign.text.includes('rest_no_route')]).toEqual([404, false])
      const wrong = await host.browser().request('DELETE', '/api/sessmgr/v1/sessions/destroy', {})
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    })
  })

  test('the admin screen is for administrators, and sends strangers to the login', async () => {
    const host = await start({ maximum: 4, logic: 'block' })
    const stranger = await host.browser().get('/admin')
    expect([stranger.status, stranger.location]).toEqual([302, '/login?redirect_to=%2Fadmin'])
    const alice = await signedIn(host, 'alice')
    const vars = await alice.get('/admin', { headers: JSON_ONLY })
    expect(vars.status).toBe(200)
    expect(vars.text).toContain('/api')
    const bob = await signedIn(host, 'bob')
    expect((await bob.get('/admin', { headers: JSON_ONLY })).status).toBe(403)
  })

  describe('when the session store fails', () => {
    test('rule 74: a request ends in 503 with Retry-After and keeps its cookie; the error is the one of the store', async () => {
      const host = await start(BLOCK)
      const browser = await signedIn(host, 'alice')
      const id = host.sessionIdOf(browser)
      const failure = Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
      host.sessions.failure = failure
      const answer = await browser.get('/me')
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
      host.sessions.failure = undefined
      expect([host.sessionIdOf(browser), await browser.me()]).toEqual([id, 200])
      expect(host.errors).toMatchObject([{ code: 'ECONNREFUSED', message: `down: ${id}`, status: 503 }])
    })

    test('because a file of it is missing, so is the session: the request goes on, and its end is no error', async () => {
      const host = await start(BLOCK)
      const browser = await signedIn(host, 'alice')
      host.sessions.failure = Object.assign(new Error('no such file'), { code: 'ENOENT' })
      expect(await browser.copy().me()).toBe(401)
      expect(await host.limiter.sessions.endAll(2)).toBe(1)
      expect(host.errors).toEqual([])
    })

    test.each(LOGIN_PATHS)('a login by %s fails, and no session changes hands', async (path) => {
      const host = await start(OLDEST, { authenticate: { successRedirect: '/', failureRedirect: '/login' } })
      const first = host.browser()
      await first.login('alice')
      const visitor = host.browser()
      host.sessions.failure = new Error('down')
      expect((await visitor.login('alice', {}, path)).status).toBe(503)
      host.sessions.failure = undefined
      expect([await first.me(), await visitor.me()]).toEqual([200, 401])
      expect(await host.limiter.sessions.count(2)).toBe(1)
    })
  })
}
