import { afterEach, describe, expect, test, vi } from 'vitest'
import { type AccountOptions, memoryStore } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { fakeClock } from '../../../src/testing.ts'
import { type Browser, textOf } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { RedisClock } from '../../support/redis-clock.ts'
import { useRedis } from '../../support/use-redis.ts'
import { type AccountHost, formIn, HOSTS, PAGE, signIn, submit } from './account-hosts.ts'

const redis = useRedis()
const settings = { maximum: 5, logic: 'block' }
const verify: AccountOptions['stepUp'] = { verify: (_request, password) => password === 'secret' }

/** Lets time pass, for the clock alone. */
function pass(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
}
afterEach(() => void vi.useRealTimers())

/** Presses the button of the phone in a browser that has the list. */
const endPhone = async (browser: Browser) => submit(browser, formIn(await browser.get(PAGE), 'Safari on iPhone'))

/** Signs in on three devices, one after the other. */
const signInOnAll = async (host: AccountHost) =>
  [await signIn(host, 'windows'), await signIn(host, 'iphone'), await signIn(host, 'linux')] as const

describe.each(['Express', 'a Request'] as const)('on %s', (kind) => {
  test('a login is fresh for as long as the application says; then the user signs in again', async () => {
    const host = await HOSTS[kind]({ settings }, { stepUp: { freshFor: 60 } })
    const [here, phone, linux] = await signInOnAll(host)
    expect(textOf(await endPhone(here))).toContain('Signed out on Safari on iPhone.')
    expect(await phone.me()).toBe(401)
    pass(61_000)
    const refused = await submit(linux, formIn(await linux.get(PAGE), 'Chrome on Windows'))
    expect(textOf(refused)).toContain('To sign out Chrome on Windows, we have to be sure that it is you. Sign in again')
    expect(refused.text).toContain('href="/login?redirect_to=%2Faccount%2Fsessions"')
    expect((await linux.get(PAGE)).text).toContain('Other devices')
    await linux.login('bob')
    expect(await here.me()).toBe(200)
    const after = await submit(linux, formIn(await linux.get(PAGE), 'Chrome on Windows'))
    expect(textOf(after)).toContain('Signed out on Chrome on Windows.')
  })

  test('a password lets this session alone end others, by a second press', async () => {
    const host = await HOSTS[kind]({ settings }, { stepUp: verify })
    const [here, phone, linux] = await signInOnAll(host)
    const asked = await endPhone(here)
    expect(textOf(asked)).toContain('To sign out Safari on iPhone, we have to be sure that it is you. Your password')
    const { proof, end: wanted } = formIn(asked, 'Safari on iPhone')
    const wrong = await submit(here, { proof, wanted, password: 'guess' })
    expect(wrong.text).toMatch(/That password is wrong\.[\s\S]*aria-invalid="true"/)
    const right = await submit(here, { proof, wanted, password: 'secret' })
    expect(textOf(right)).toContain('Thank you. You can sign out Safari on iPhone now.')
    expect(await phone.me()).toBe(200)
    expect(textOf(await endPhone(linux))).toContain('Your password')
    expect(textOf(await endPhone(here))).toContain('Signed out on Safari on iPhone.')
    pass(601_000)
    expect(textOf(await submit(here, formIn(await here.get(PAGE), 'Firefox on Linux')))).toContain('Your password')
  })
})

test('a session that was taken over is not fresh', async () => {
  const host = await HOSTS.Express({ settings }, { stepUp: { freshFor: 60 } })
  const [here, phone] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
  await host.limiter.uninstall()
  expect([await here.me(), await phone.me()]).toEqual([200, 200])
  const { proof } = formIn(await here.get(PAGE))
  expect(textOf(await submit(here, { proof, others: '1' }))).toContain('Sign in again')
  expect(await phone.me()).toBe(200)
})

describe('the password', () => {
  test('rule 85: is checked at most five times in ten minutes in a session, also in parallel and over REST', async () => {
    const checked: string[] = []
    const host = await HOSTS.Express({ settings }, { stepUp: { verify: (_, password) => !checked.push(password) } })
    const here = await signIn(host, 'windows')
    await signIn(host, 'iphone')
    const headers = { 'x-host-nonce': (await here.get('/nonce')).text }
    const guess = (password: string) =>
      here.copy().request('POST', '/api/sessmgr/v1/me/reauthenticate', { headers, json: { password } })
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => guess(String(index))))
    expect(checked).toHaveLength(5)
    expect(answers.map(({ status }) => status).toSorted()).toEqual([403, 403, 403, 403, 403, 429, 429, 429])
    const { proof, end: wanted } = formIn(await endPhone(here), 'Safari on iPhone')
    const page = await submit(here, { proof, wanted, password: 'secret' })
    expect(textOf(page)).toMatch(/Too many attempts\. Try again at \d\d:\d\d UTC\./)
    pass(601_000)
    expect((await guess('later')).status).toBe(403)
  })

  test('rule 85: counts for each session, wrong ones only, so a thief cannot use up what other sessions have', async () => {
    const host = await HOSTS.Express({ settings }, { stepUp: { ...verify, attempts: { count: 2, minutes: 1 } } })
    const [here, phone] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
    const guess = async (browser: Browser, password: string) => {
      const headers = { 'x-host-nonce': (await browser.get('/nonce')).text }
      return browser.request('POST', '/api/sessmgr/v1/me/reauthenticate', { headers, json: { password } })
    }
    for (let count = 0; count < 4; count++) expect((await guess(here, 'secret')).status).toBe(200)
    const thief = here.copy()
    expect([(await guess(thief, 'one')).status, (await guess(thief, 'two')).status]).toEqual([403, 403])
    const late = await guess(here, 'secret')
    expect([late.status, Number(late.headers.get('retry-after')) <= 60]).toEqual([429, true])
    expect((await guess(phone, 'secret')).status).toBe(200)
    pass(61_000)
    expect((await guess(here, 'secret')).status).toBe(200)
  })

  test('counts against the attempts of the application too, where it has any', async () => {
    const failed: unknown[] = []
    let allowed = 2
    const attempts = { allow: () => failed.length < allowed, failed: (attempt: unknown) => failed.push(attempt) }
    const users = { findById: () => ({ login: 'bob' }), findByEmail() {}, findByLogin() {} }
    const summary = () => ({ id: 3, login: 'bob', display_name: 'Bob' })
    const hostOption = { users: { ...users, summary }, can: () => false, attempts } as never
    const host = await startExpressHost({ sessmgr: { host: hostOption, settings }, account: { stepUp: verify } })
    const here = await signIn(host, 'windows')
    await signIn(host, 'iphone')
    const { proof } = formIn(await here.get(PAGE))
    const tell = async () => textOf(await submit(here, { proof, wanted: '', password: 'x' }))
    for (const expected of ['password is wrong', 'password is wrong', 'Too many attempts. Try again later.']) {
      expect(await tell()).toContain(expected)
    }
    expect(failed).toEqual([expect.objectContaining({ name: 'bob' }), expect.objectContaining({ name: 'bob' })])
    allowed = Number.POSITIVE_INFINITY
    for (let count = 3; count <= 5; count++) expect(await tell()).toContain('password is wrong')
    expect(await tell()).toMatch(/Too many attempts\. Try again at \d\d:\d\d UTC\./)
    expect(failed).toHaveLength(5)
  })
})

test.each(['host.attempts.allow', 'host.attempts.failed'])(
  'while %s() does not end, a password is answered with 503, and proves nothing later either',
  async (name) => {
    const hanging: ((answer: boolean) => void)[] = []
    let hangs = true
    const answer = (own: string, now: boolean) =>
      hangs && own === name ? new Promise<boolean>((resolve) => hanging.push(resolve)) : now
    const host = await startExpressHost({
      sessmgr: {
        settings,
        deadlineMs: 500,
        host: {
          users: {
            findById: () => ({}),
            findByEmail: () => undefined,
            findByLogin: () => undefined,
            summary: () => ({ id: 3, login: 'bob', display_name: 'Bob' }),
          },
          can: () => false,
          attempts: {
            allow: () => answer('host.attempts.allow', true),
            failed: () => answer('host.attempts.failed', true),
          },
        },
      },
      account: { stepUp: { verify: (_, password) => password === 'secret' } },
    })
    const [here, phone] = [await signIn(host, 'windows'), await signIn(host, 'iphone')]
    const headers = { 'x-host-nonce': (await here.get('/nonce')).text }
    const { proof } = formIn(await here.get(PAGE))
    const tell = (password: string) =>
      here.request('POST', '/api/sessmgr/v1/me/reauthenticate', { headers, json: { password } })
    const form = { proof, wanted: '', password: 'guess' }
    const [answered, page] = await Promise.all([tell('guess'), here.post(PAGE, form)])
    expect([answered.status, answered.headers.get('retry-after'), answered.json()]).toEqual([
      503,
      '2',
      expect.objectContaining({
        code: 'store_unavailable',
        message: `${name}() did not respond within 500 ms. Try again shortly.`,
      }),
    ])
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '2'])
    hangs = false
    for (const end of hanging) end(true)
    const refused = await here.request('POST', '/api/sessmgr/v1/me/sessions/end-others', { headers, json: {} })
    expect([refused.status, await phone.me(), hanging.length]).toEqual([403, 200, 2])
    expect((await tell('secret')).status).toBe(200)
  },
)

test('a page of the application proves it by limiter.reauthenticated(), for that session until its id changes', async () => {
  const host = await startExpressHost({
    sessmgr: { settings },
    account: { stepUp: { url: '/passkey' } },
    further: ({ app, limiter }) =>
      app.get('/passkey', (req, res, next) => void limiter.reauthenticated(req).then(() => res.send('proved'), next)),
  })
  const [here, linux] = [await signIn(host, 'windows'), await signIn(host, 'linux')]
  await signIn(host, 'iphone')
  const asked = await endPhone(here)
  expect(asked.text).toContain('href="/passkey?redirect_to=%2Faccount%2Fsessions"')
  const headers = { 'x-host-nonce': (await here.get('/nonce')).text }
  const refused = await here.request('POST', '/api/sessmgr/v1/me/sessions/end-others', { headers, json: {} })
  expect([refused.status, refused.json()]).toMatchObject([
    403,
    { code: 'reauthentication_required', data: { how: 'url', url: '/passkey' } },
  ])
  expect((await here.get('/passkey')).text).toBe('proved')
  expect((await linux.get('/passkey')).text).toBe('proved')
  expect(textOf(await endPhone(linux))).toContain('Signed out on Safari on iPhone.')
  await here.post('/rotate')
  expect(await here.me()).toBe(200)
  const again = await submit(here, formIn(await here.get(PAGE), 'Firefox on Linux'))
  expect(textOf(again)).toContain('Please confirm your identity first')
  expect((await host.browser().get('/passkey')).status).toBe(401)
})

test('a proof on Redis counts in another process for its own session only, and ends after ten minutes', async () => {
  const sessions = new JsonSessions()
  const clock = new RedisClock()
  const start = () => {
    const sessmgr = { store: redisStore({ client: clock.on(redis.client), tracking: false }), settings }
    return startExpressHost({ sessmgr, sessions, account: { stepUp: verify } })
  }
  const [one, other] = [await start(), await start()]
  const [here, phone, linux] = [await signIn(one, 'windows'), await signIn(one, 'iphone'), await signIn(one, 'linux')]
  const { proof, end: wanted } = formIn(await endPhone(here), 'Safari on iPhone')
  expect(textOf(await submit(here, { proof, wanted, password: 'secret' }))).toContain('Thank you.')
  expect(textOf(await endPhone(linux.copy(other.origin)))).toContain('Your password')
  expect(await phone.me()).toBe(200)
  expect(textOf(await endPhone(here.copy(other.origin)))).toContain('Signed out on Safari on iPhone.')
  expect(await phone.me()).toBe(401)
  await clock.pass(601_000)
  expect(textOf(await submit(here, formIn(await here.get(PAGE), 'Firefox on Linux')))).toContain('Your password')
})

test('a login that the application makes by itself proves nothing, until the user signs in', async () => {
  const host = await startExpressHost({
    sessmgr: { settings, sessionUser: ({ mine }: { mine?: string }) => mine },
    account: { stepUp: { freshFor: 60 } },
    further: ({ app, limiter }) =>
      app
        .post('/mine', (req, res) => {
          Object.assign(req.session, { mine: 'bob' })
          res.send('signed in')
        })
        .post('/ours', (req, res, next) => {
          const name = () => Object.assign(req.session, { mine: 'bob' })
          void limiter.login(req, 'bob').then(() => res.send(name() && 'signed in'), next)
        }),
  })
  const end = async (browser: Browser) => {
    const headers = { 'x-host-nonce': (await browser.get('/nonce')).text }
    return (await browser.request('POST', '/api/sessmgr/v1/me/sessions/end-others', { headers, json: {} })).status
  }
  const [mine, ours] = [host.browser(), host.browser()]
  await mine.post('/mine')
  await ours.post('/ours')
  expect([await end(mine), await end(ours), await end(ours)]).toEqual([403, 200, 200])
})

test('a login that is fresh writes nothing besides the session', async () => {
  const store = memoryStore()
  const set = vi.spyOn(store.transients, 'set')
  const host = await startExpressHost({ sessmgr: { store, settings }, account: { stepUp: { freshFor: 60 } } })
  await signIn(host, 'windows')
  expect(set.mock.calls.filter(([key]) => !key.startsWith('erased:'))).toEqual([])
})

const HOUR = 3_600_000

describe('rule 87: while the clock of the store is an hour ahead', () => {
  function open() {
    const clock = fakeClock()
    return { store: memoryStore({ clock }), move: (ms: number) => clock.advance(ms) }
  }

  test('a login is not fresh for longer, once the clock is right again', async () => {
    const { store, move } = open()
    const host = await startExpressHost({ sessmgr: { store, settings }, account: { stepUp: { freshFor: 60 } } })
    move(HOUR)
    const [here] = [await signIn(host, 'windows'), await signIn(host, 'iphone'), await signIn(host, 'linux')]
    move(-HOUR)
    expect(textOf(await endPhone(here))).toContain('Signed out on Safari on iPhone.')
    move(61_000)
    expect(textOf(await submit(here, formIn(await here.get(PAGE), 'Firefox on Linux')))).toContain('Sign in again')
  })

  test('a password is not remembered for longer, although the session is older', async () => {
    const { store, move } = open()
    const host = await startExpressHost({ sessmgr: { store, settings }, account: { stepUp: verify } })
    const [here] = [await signIn(host, 'windows'), await signIn(host, 'iphone'), await signIn(host, 'linux')]
    const { proof, end: wanted } = formIn(await endPhone(here), 'Safari on iPhone')
    move(HOUR)
    expect(textOf(await submit(here, { proof, wanted, password: 'secret' }))).toContain('Thank you.')
    move(-HOUR)
    expect(textOf(await endPhone(here))).toContain('Signed out on Safari on iPhone.')
    move(601_000)
    expect(textOf(await submit(here, formIn(await here.get(PAGE), 'Firefox on Linux')))).toContain('Your password')
  })
})
