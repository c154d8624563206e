import { describe, expect, test } from 'vitest'
import type { TextsOption } from '../../../src/index.ts'
import { type Browser, loggedIn } from '../../support/browser.ts'
import type { StartHost } from '../../support/host-under-test.ts'
import { loseRace } from '../../support/lose-race.ts'
import { wholeSettings } from '../../support/whole-settings.ts'
import { BLOCK, LOGIN_PATHS, OLDEST, suiteTools } from './suite-tools.ts'

const JSON_ONLY = { accept: 'application/json' }
const SETTINGS = '/api/sessmgr/v1/settings'

/** What every host answers on the REST routes and the admin screen. */
export function describeRoutes(startHost: StartHost): void {
  const { start, signedIn } = suiteTools(startHost)
  const proofOf = async (browser: Browser) => ({ 'x-host-nonce': (await browser.get('/nonce')).text })

  describe('the REST routes', () => {
    test('answer an administrator with cookie and nonce, and nobody else; the rest is left to the application', async () => {
      const host = await start({ maximum: 4, logic: 'block' })
      const [alice, bob, anonymous] = [await signedIn(host, 'alice'), await signedIn(host, 'bob'), host.browser()]
      const answer = await alice.get(SETTINGS, { headers: await proofOf(alice) })
      expect([answer.status, answer.json()]).toEqual([200, wholeSettings({ maximum: 4, logic: 'block' })])
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('x-host-nonce')).toMatch(/./)

      const refused = await anonymous.get(SETTINGS)
      expect([refused.status, refused.json().code]).toEqual([401, 'rest_forbidden'])
      expect((await alice.get(SETTINGS)).status).toBe(401)
      expect((await bob.get(SETTINGS, { headers: await proofOf(bob) })).status).toBe(403)
      expect((await anonymous.get('/nonce')).text).toBe('')

      const unknown = await anonymous.get('/api/sessmgr/v1/nothing')
      expect([unknown.status, unknown.json().code]).toEqual([404, 'rest_no_route'])
      const foreign = await anonymous.get('/api/other')
      expect([foreign.status, foreign.text.includes('rest_no_route')]).toEqual([404, false])
      const wrong = await anonymous.request('DELETE', '/api/sessmgr/v1/sessions/destroy', {})
      expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    })

    test('answer a list that the caller has with 304, to those alone who may read it', async () => {
      const host = await start({ maximum: 4, logic: 'block' })
      const [alice, bob] = [await signedIn(host, 'alice'), await signedIn(host, 'bob')]
      const [alices, bobs] = [await proofOf(alice), await proofOf(bob)]
      const poll = async (browser: Browser, proof: Record<string, string>, known = '') => {
        const headers = { ...proof, ...(known && { 'if-none-match': known }) }
        const answer = await browser.get('/api/sessmgr/v1/sessions?user=bob', { headers })
        return { ...answer, tag: answer.headers.get('etag') ?? '' }
      }
      const first = await poll(alice, alices)
      expect([first.status, first.json().sessions]).toMatchObject([200, [{ ip: expect.any(String) }]])
      expect(first.tag).toMatch(/^"[\w-]{43}"$/)
      for (const known of [first.tag, `"other", W/${first.tag}`, '*']) {
        const { status, text, tag, headers } = await poll(alice, alices, known)
        expect([status, text, tag, headers.get('cache-control')]).toEqual([304, '', first.tag, 'no-store'])
        expect([headers.get('content-type'), headers.get('x-host-nonce')]).toEqual([null, expect.stringMatching(/./)])
      }
      const refused = [await poll(bob, bobs, first.tag), await poll(host.browser(), {}, '*')]
      expect(refused.map(({ status, tag }) => [status, tag])).toEqual([
        [403, ''],
        [401, ''],
      ])
      await signedIn(host, 'bob')
      const changed = await poll(alice, alices, first.tag)
      expect([changed.status, changed.json().sessions]).toMatchObject([200, [{}, {}]])
      expect(changed.tag).not.toBe(first.tag)
    })

    test('read JSON, by POST for any method, and compress what is long', async () => {
      const host = await start({ maximum: 4, logic: 'block' })
      const alice = await signedIn(host, 'alice')
      const headers = { ...(await proofOf(alice)), 'content-type': 'application/json' }
      const cookie = [...alice.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
      const send = async (body: string) => {
        const answer = await fetch(host.origin + SETTINGS, { method: 'POST', headers: { ...headers, cookie }, body })
        return [answer.status, (await answer.json()) as { code?: string }] as const
      }
      expect(await send('{"maximum":7,"logic":"allow"}')).toMatchObject([200, { maximum: 7, logic: 'allow' }])
      expect(await send('{')).toMatchObject([400, { code: 'rest_invalid_json' }])
      expect(await send('{"maximum":0}')).toMatchObject([400, { code: 'rest_invalid_param' }])
      expect(await host.limiter.settings.get()).toEqual(wholeSettings({ maximum: 7, logic: 'allow' }))

      const reset = await alice.request('POST', `${SETTINGS}?_method=DELETE`, { headers, json: {} })
      expect([reset.status, reset.json()]).toEqual([200, wholeSettings({ maximum: 4, logic: 'block' })])
      const long = { headers: { ...headers, 'accept-encoding': 'gzip' } }
      const answer = await alice.get('/api/sessmgr/v1/openapi.json', long)
      expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'gzip'])
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
}

/** What hosts with Passport answer to refused logins, and when the session store fails. */
export function describeAnswers(startHost: StartHost): void {
  const { start, startTwo, signedIn } = suiteTools(startHost)

  describe('rule 11: a refused login looks like a wrong password', () => {
    const options = { successRedirect: '/', failureRedirect: '/login', failureMessage: true }

    test('honours failureRedirect and failureMessage, with successRedirect set', async () => {
      const host = await start(BLOCK, { authenticate: options })
      const winner = host.browser()
      expect((await winner.login('alice')).location).toBe('/')
      const visitor = host.browser()
      const wrong = await visitor.post('/login', { username: 'alice', password: 'wrong' })
      expect([wrong.status, wrong.location, host.actions]).toEqual([302, '/login', []])
      const refused = await host.browser().login('alice')
      expect([refused.status, refused.location]).toEqual([302, '/login'])
      const late = await loggedIn(host, 'alice')
      expect((await late.get('/messages')).json().messages).toEqual([
        "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",
      ])
      expect([await late.me(), await winner.me()]).toEqual([401, 200])
    })

    test('answers with 403, with successRedirect but no failureRedirect', async () => {
      const host = await start(BLOCK, { authenticate: { successRedirect: '/' } })
      await host.browser().login('alice')
      const refused = await host.browser().login('alice')
      expect([refused.status, refused.location]).toEqual([403, null])
    })

    test('rule 40: answers a client that asks for JSON with 403 and the code, in the language of the request', async () => {
      const texts: TextsOption = ({ headers }) =>
        headers['accept-language'] === 'de' ? { login_blocked: 'Zwei <b>Geräte</b>.' } : {}
      const host = await start(BLOCK, { authenticate: options, sessmgr: { texts } })
      await host.browser().login('alice')
      const ask = (language: string) => host.browser().login('alice', { ...JSON_ONLY, 'accept-language': language })
      const refused = await ask('de')
      const data = { status: 403 }
      const code = 'login_limit_reached'
      expect([refused.status, refused.json()]).toEqual([403, { code, message: 'Zwei <b>Geräte</b>.', data }])
      expect(refused.headers.get('cache-control')).toBe('no-store')
      expect((await ask('en')).json().message).toMatch(/^You've reached the limit/)
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
  })

  test('HEAD of a REST route has no body', async () => {
    const alice = await signedIn(await start(BLOCK), 'alice')
    const headers = { 'x-host-nonce': (await alice.get('/nonce')).text }
    const { status, text } = await alice.request('HEAD', SETTINGS, { headers })
    expect([status, text]).toEqual([200, ''])
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

    test('a login fails, whatever its way, and no session changes hands', async () => {
      const host = await start(OLDEST, { authenticate: { successRedirect: '/', failureRedirect: '/login' } })
      const first = await loggedIn(host, 'alice')
      for (const path of LOGIN_PATHS) {
        const visitor = host.browser()
        host.sessions.failure = new Error('down')
        expect((await visitor.login('alice', {}, path)).status, path).toBe(503)
        host.sessions.failure = undefined
        expect([await first.me(), await visitor.me()], path).toEqual([200, 401])
        expect(await host.limiter.sessions.count(2), path).toBe(1)
      }
    })
  })
}
