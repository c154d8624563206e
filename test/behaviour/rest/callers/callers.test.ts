import express from 'express'
import session from 'express-session'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { helpAt } from '../../../../src/ground/help.ts'
import { SessmgrError, sessmgr } from '../../../../src/index.ts'
import { Browser } from '../../../support/browser.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { listen } from '../../../support/listen.ts'
import { basic, type RestAnswer } from '../../../support/rest-client.ts'
import { type RestHost, type SignedIn, startRestHost } from '../../../support/rest-host.ts'
import { createRestUsers, restHostOf } from '../../../support/rest-users.ts'

const SETTINGS = '/sessmgr/v1/settings'
const DESTROY = '/sessmgr/v1/sessions/destroy'
const PASSWORDS = '/sessmgr/v1/application-passwords'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 50 } } }))
let admin: SignedIn
beforeEach(async () => {
  await host.limiter.sessions.endAll(1)
  admin = await host.signIn('admin')
  Object.assign(host.user('dora'), { disabled: false, role: 'administrator' })
})

const as = (login: string) => host.signIn(login).then(({ headers }) => headers)
const without = (login: string) => host.signIn(login).then(({ cookie }) => ({ cookie }))
const get = (headers: object = {}) => host.call('GET', SETTINGS, { headers: { ...headers } })
const seen = ({ status, json }: RestAnswer) => [status, json.code]

/** Who calls, what a route answers them, and what a route answers that accepts only a session. */
type Caller = readonly [who: string, status: number, ofPage: number, headers: () => Promise<object>]

const CALLERS: readonly Caller[] = [
  ['a stranger', 401, 401, async () => ({})],
  ['a subscriber', 403, 403, () => as('alice')],
  ['a subscriber without nonce', 401, 401, () => without('alice')],
  ['a subscriber with application password', 403, 401, () => host.scriptOf('alice')],
  ['an admin without nonce', 401, 401, () => without('admin')],
  ['an admin', 200, 200, () => as('admin')],
  ['an application password of an admin', 200, 401, () => host.scriptOf('admin')],
  ['a revoked application password', 401, 401, revoked],
  ['a disabled admin', 403, 403, () => changed(as, { disabled: true })],
  ['a disabled admin with application password', 403, 401, () => changed(host.scriptOf, { disabled: true })],
  ['an admin who has become a subscriber', 403, 403, () => changed(as, { role: 'subscriber' })],
]

async function revoked() {
  const { id, password } = await host.limiter.passwords.create(1, 'revoked')
  await host.limiter.passwords.revoke(1, id)
  return basic('admin', password)
}

async function changed(sign: (login: string) => Promise<object>, change: object) {
  const headers = await sign('dora')
  Object.assign(host.user('dora'), change)
  return headers
}

describe('who may call', () => {
  it.each(CALLERS)('%s is answered %d', async (_who, status, ofPage, headersOf) => {
    const headers = { ...(await headersOf()) }
    const calls = [
      ['GET', SETTINGS, undefined, status],
      ['PUT', SETTINGS, { logic: 'ask', maximum: 3 }, status],
      ['POST', PASSWORDS, { name: 'backup' }, ofPage],
    ] as const
    await host.registry.options.delete('sessmgr_settings')
    for (const [method, path, json, expected] of calls) {
      const before = await host.snapshot()
      const answer = await host.call(method, path, { headers, json })
      expect(seen(answer), `${method} ${path}`).toEqual([expected, expected === 200 ? undefined : 'rest_forbidden'])
      if (expected !== 200) expect(await host.snapshot()).toEqual(before)
      else if (method !== 'GET') expect(await host.snapshot()).not.toEqual(before)
    }
  })

  it('an admin who is gone is a stranger, with cookie and with password, whether nobody is null or undefined', async () => {
    const carried = [await as('dora'), await host.scriptOf('dora')]
    const users = host.limiter.host?.users ?? {}
    const found = { ...users }
    for (const nobody of [undefined, null]) {
      const gone = async () => nobody
      Object.assign(users, { findById: gone, findByLogin: gone, findByEmail: gone })
      for (const headers of carried) expect(seen(await get(headers))).toEqual([401, 'rest_forbidden'])
    }
    Object.assign(users, found)
    for (const headers of carried) expect((await get(headers)).status).toBe(200)
  })

  it('decision 71: one whose session has ended is a stranger, whose cookie is left alone', async () => {
    await host.limiter.sessions.end(1, admin.token)
    for (let request = 0; request < 2; request++) {
      const answer = await get(admin.headers)
      expect(seen(answer)).toEqual([401, 'rest_forbidden'])
      expect(answer.headers['set-cookie']).toEqual([expect.stringMatching(`^sessmgr_notice=${admin.token};`)])
    }
  })

  it.each([
    ['numbers', (one: unknown, other: unknown) => one === other],
    ['strings', (one: unknown, other: unknown) => String(one) === other],
  ])('rule 50: an administrator is found where the application compares ids as %s', async (_kind, isSame) => {
    const logs: unknown[] = []
    const note = (line: unknown) => void logs.push(line)
    const users = createRestUsers()
    const given = restHostOf(users)
    const findById = (id: unknown) => users.find((user) => isSame(user.id, id))
    const limiter = sessmgr({
      logger: { warn: note, error: note },
      settings: { maximum: 3 },
      host: { ...given, users: { ...given.users, findById } },
    })
    onTestFinished(() => limiter.close())
    const app = express()
    app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
    app.use('/api', limiter.router()).use('/admin', limiter.admin())
    app.get('/in', async (req, res) => {
      await limiter.login(req, users[0])
      res.send((await limiter.nonce(req)) ?? '')
    })
    const browser = new Browser(await listen(app))
    const headers = { 'x-host-nonce': (await browser.get('/in')).text }
    const list = await browser.get('/api/sessmgr/v1/sessions?user=1', { headers })
    expect(list.json()).toMatchObject({ user: { login: 'admin' } })
    expect((await browser.get('/admin')).status).toBe(200)
    expect(logs).toEqual([])
  })
})

describe('rule 19: the order of checks', () => {
  it('is nonce, capability, parameters', async () => {
    const alice = await host.signIn('alice')
    const call = (headers: object) =>
      host.call('POST', SETTINGS, { headers: { ...headers, 'content-type': 'application/json' }, body: '{' })
    expect(seen(await call({ ...alice.headers, 'x-host-nonce': 'x' }))).toEqual([403, 'rest_cookie_invalid_nonce'])
    expect(seen(await call(alice.headers))).toEqual([403, 'rest_forbidden'])
    expect(seen(await call(admin.headers))).toEqual([400, 'rest_invalid_json'])
  })

  it('says with every 401 how to sign in, and opens the dialogue of no browser that did not ask for Basic', async () => {
    const [stranger, unsigned, script] = [
      await get(),
      await get({ cookie: admin.cookie }),
      await get(basic('admin', 'wrong')),
    ]
    expect([stranger, unsigned, script].map(seen)).toEqual([1, 2, 3].map(() => [401, 'rest_forbidden']))
    expect(stranger.headers['www-authenticate']).toMatch(/^(?!Basic)\w+ realm="[^"]+"$/)
    expect(unsigned.headers['www-authenticate']).toBe(stranger.headers['www-authenticate'])
    expect(script.headers['www-authenticate']).toMatch(/^Basic realm="[^"]+", charset="UTF-8"$/)
    expect(unsigned.json.message).toContain('Send the X-HOST-Nonce header with the value of limiter.nonce(request).')
    expect(stranger.json.message).toBe('Sign in first.')
    expect(unsigned.headers['x-host-nonce']).toBeUndefined()
    expect(await host.isSignedIn(admin)).toBe(true)
  })

  it('refuses a cookie with an empty, wrong or repeated nonce, and gives none then', async () => {
    const { cookie, nonce } = admin
    for (const sent of ['', ' ', 'wrong', [nonce, nonce]]) {
      const answer = await get({ cookie, 'x-host-nonce': sent })
      expect(seen(answer), JSON.stringify(sent)).toEqual([403, 'rest_cookie_invalid_nonce'])
      expect(answer.headers['x-host-nonce']).toBeUndefined()
    }
  })

  it('gives a fresh nonce for a good one, also with an answer that says no', async () => {
    const answers = [
      await get(admin.headers),
      await host.call('POST', SETTINGS, { headers: admin.headers, json: { maximum: 0 } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 400])
    for (const { headers } of answers) {
      expect((await get({ cookie: admin.cookie, 'x-host-nonce': headers['x-host-nonce'] })).status).toBe(200)
    }
  })

  it('takes the header that the application has named', async () => {
    const renamed = await startRestHost({ sessmgr: { nonceHeader: 'X-My-Nonce' } })
    onTestFinished(() => renamed.close())
    const { cookie, nonce } = await renamed.signIn('admin')
    const call = (headers: Record<string, string>) => renamed.call('GET', '/sessmgr/v1/openapi.json', { headers })
    expect((await call({ cookie, 'x-host-nonce': nonce })).status).toBe(401)
    const good = await call({ cookie, 'x-my-nonce': nonce })
    expect([good.status, good.headers['x-my-nonce']]).toEqual([200, expect.stringMatching(/^[\w-]{32}$/)])
    expect(good.json.components.securitySchemes.nonce.name).toBe('X-My-Nonce')
  })
})

describe('rule 18: an error has one shape', () => {
  it('whatever its status, and is kept by nobody (rule 26)', async () => {
    const ofAdmin = (json: unknown, path = DESTROY) => host.call('POST', path, { headers: admin.headers, json })
    const sent = (body: string, type = { 'content-type': 'application/json' }) =>
      host.call('POST', SETTINGS, { headers: { ...admin.headers, ...type }, body })
    const cases: [status: number, code: string, answer: ReturnType<RestHost['call']>][] = [
      [400, 'rest_invalid_param', ofAdmin({ maximum: 0 }, SETTINGS)],
      [400, 'rest_invalid_json', sent('{')],
      [400, 'missing_identifier', ofAdmin({})],
      [401, 'rest_forbidden', get()],
      [401, 'rest_forbidden', get(basic('admin', 'wrong'))],
      [403, 'rest_cookie_invalid_nonce', get({ ...admin.headers, 'x-host-nonce': 'x' })],
      [404, 'user_not_found', ofAdmin({ user: 'x' })],
      [404, 'rest_no_route', host.call('GET', '/sessmgr/v1/nothing')],
      [405, 'rest_method_not_allowed', host.call('DELETE', '/sessmgr/v1/addons')],
      [413, 'rest_payload_too_large', sent(' '.repeat(200_000))],
      [415, 'rest_unsupported_media_type', sent('{}', { 'content-type': 'text/plain' })],
    ]
    for (const [status, code, answering] of cases) {
      const answer = await answering
      expect([answer.status, answer.headers['cache-control']], code).toEqual([status, 'no-store'])
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
      expect(answer.json).toEqual({
        code,
        message: expect.stringMatching(/^[A-Z].*\.$/s),
        data: expect.objectContaining({ status }),
      })
    }
  })

  it('also for a fault inside, of which it says nothing', async () => {
    const remove = host.limiter.hooks.addFilter('sessmgr_logics', 'broken', () => {
      throw new Error('canary-of-the-inside')
    })
    const answer = await host.call('POST', SETTINGS, { headers: admin.headers, json: { maximum: 2 } })
    remove()
    expect(answer.status).toBe(500)
    expect(answer.json).toEqual({ code: 'rest_internal_error', message: expect.any(String), data: { status: 500 } })
    expect(answer.text).not.toContain('canary')
    expect(host.logs.at(-1)?.[0]).toBe(`A REST call failed. See ${helpAt('hook_failed')}`)
    expect(JSON.stringify(host.logs.at(-1))).toContain('canary-of-the-inside')
  })

  it('and when the store is down, with 503 and a time to come back', async () => {
    const { get: read } = host.registry.options
    host.registry.options.get = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is down.'))
    const answer = await get(await host.scriptOf('admin'))
    host.registry.options.get = read
    expect(seen(answer)).toEqual([503, 'store_unavailable'])
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  })
})

describe('a stranger, and one without the capability, learns nothing of who has an account', () => {
  it.each([401, 403])('every answer %d is the same, byte by byte', async (expected) => {
    const { token } = await host.signIn('alice')
    const { headers: ofBob } = await host.signIn('bob')
    const strange = [{}, { cookie: 'connect.sid=s%3Aforged.forged' }, { 'x-host-nonce': 'forged' }]
    const answers = new Set<string>()
    const bytesOf = ({ status, text, headers: { date: _date, 'x-host-nonce': _nonce, ...rest } }: RestAnswer) =>
      `${status} ${JSON.stringify(rest)} ${text}`
    for (const carried of expected === 401 ? strange : [ofBob]) {
      const headers = { ...carried }
      for (const user of ['alice', 'nobody', '2', '99', 'alice@example.test', '', 7, null]) {
        for (const more of [{}, { token }, { token: 'x' }]) {
          answers.add(bytesOf(await host.call('POST', DESTROY, { headers, json: { user, ...more } })))
        }
        answers.add(bytesOf(await host.call('GET', `/sessmgr/v1/sessions?user=${user}`, { headers })))
      }
    }
    expect([...answers]).toEqual([expect.stringMatching(`^${expected} `)])
    expect(await host.limiter.sessions.count(2)).toBeGreaterThan(0)
  })
})
