import { createHash } from 'node:crypto'
import { Router } from 'express'
import { afterEach, expect, it, vi } from 'vitest'
import { type BoundOptions, boundSessions } from '../../../src/bound.ts'
import { memoryStore } from '../../../src/index.ts'
import { aWarning } from '../../support/a-warning.ts'
import type { Answer, Browser } from '../../support/browser.ts'
import { DeviceKey, loseProof, proofNames, registrationIn } from '../../support/device-key.ts'
import { type ExpressSetup, startExpressHost } from '../../support/express-host.ts'

const ALICE = { username: 'alice', password: 'secret' }
const MINUTE = 60_000
const PAGE = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

afterEach(() => void vi.useRealTimers())

async function startBound(options: BoundOptions = {}, setup: ExpressSetup = {}) {
  const host = await startExpressHost({ bound: (limiter) => boundSessions(limiter, options), ...setup })
  return {
    ...host,
    /** Signs a user in, and registers a key. */
    async signIn(form = ALICE, browser = host.browser(), key = new DeviceKey()) {
      expect((await key.register(browser, await browser.post('/login', form))).status).toBe(200)
      return { browser, key }
    },
  }
}

const codeOf = ({ status, text }: Answer) => [status, /"code":"(\w+)"/.exec(text)?.[1]]
/** The last proof that a browser got. */
const proofIn = (browser: Browser) => browser.cookies.get(proofNames(browser).at(-1) ?? '')?.value

/** Moves the clock of this process. */
function advance(ms: number): void {
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: now + ms })
}

it('a copied cookie is good for at most twice proofSeconds, and a browser with the key goes on', async () => {
  const { signIn } = await startBound({ proofSeconds: 600 })
  const { browser, key } = await signIn()
  const thief = browser.copy()
  advance(19 * MINUTE)
  expect(await thief.me()).toBe(200)
  advance(MINUTE)
  expect([codeOf(await thief.get('/me')), await browser.me()]).toEqual([[401, 'device_proof_missing'], 401])
  await key.refresh(browser)
  expect([await browser.me(), await thief.me()]).toEqual([200, 401])
  expect((await thief.get('/me', { headers: PAGE })).text).toContain('action="/session/leave"')
})

it('a proof of another key, or of another account, is worth nothing', async () => {
  const { signIn } = await startBound()
  const [alice, bob] = [await signIn(), await signIn({ username: 'bob', password: 'secret' })]
  const thief = alice.browser.copy()
  const names = proofNames(thief)
  loseProof(thief)
  for (const name of names) thief.cookies.set(name, { value: proofIn(bob.browser) ?? '', path: '/' })
  expect(await thief.me()).toBe(401)
  const foreign = await bob.key.challenge(bob.browser)
  const answer = await alice.key.prove(alice.browser, alice.key.answerTo(foreign))
  expect([answer.status, proofIn(thief)], 'a challenge of another session').toEqual([403, proofIn(bob.browser)])
})

it('an answer that is signed with another key ends the session, and everyone concerned learns it', async () => {
  const { signIn, limiter } = await startBound()
  const stolen = vi.fn()
  const ended = vi.fn()
  limiter.hooks.addAction('sessmgr_session_stolen', 'test', stolen)
  limiter.hooks.addAction('sessmgr_session_ended', 'test', ended)
  const { browser, key } = await signIn()
  const thief = browser.copy()
  const challenge = await key.challenge(thief)
  const other = new DeviceKey()
  const forged = await key.prove(thief, key.answerTo(challenge, { by: other }))
  expect(forged.json()).toEqual({ continue: false })
  expect([await browser.me(), await thief.me(), await limiter.sessions.count(2)]).toEqual([401, 401, 0])
  const about = { ip: expect.stringContaining('127.0.0.1'), userAgent: 'node' }
  expect(stolen.mock.calls).toMatchObject([[{ userId: 2 }, about]])
  expect(ended.mock.calls).toMatchObject([[{ userId: 2 }, { kind: 'stolen', by: { ip: about.ip } }]])
  expect((await browser.get('/state')).text).toContain('"kind":"stolen"')
})

it.each([
  ['another algorithm', { alg: 'none' }],
  ['another type', { typ: 'JWT' }],
])('an answer with %s is none', async (_, head) => {
  const { signIn } = await startBound()
  const { browser, key } = await signIn()
  const answer = await key.prove(browser, key.answerTo(await key.challenge(browser), { head }))
  expect([answer.status, await browser.me()]).toEqual([403, 200])
})

it('a challenge that is answered twice gives the same proof, which ends with it', async () => {
  const { signIn } = await startBound({ proofSeconds: 300 })
  const { browser, key } = await signIn()
  const answer = key.answerTo(await key.challenge(browser))
  const thief = browser.copy()
  await key.prove(browser, answer)
  advance(MINUTE)
  await key.prove(thief, answer)
  expect(proofIn(thief)).toBe(proofIn(browser))
  advance(9 * MINUTE)
  expect([await thief.me(), (await key.prove(thief, answer)).status]).toEqual([401, 403])
})

it('only who got the response to the login can register a key, and only one', async () => {
  const { browser: newBrowser, signIn, limiter } = await startBound()
  const [owner, key, other] = [newBrowser(), new DeviceKey(), new DeviceKey()]
  const login = await owner.post('/login', ALICE)
  const thief = owner.copy()
  const own = await signIn({ username: 'bob', password: 'secret' })
  const proven = other.answerTo(await own.key.challenge(own.browser))
  const forged = await thief.post('/session/start', {}, { 'secure-session-response': proven })
  expect(forged.status, 'a challenge that is not for a login').toBe(403)
  expect((await key.register(owner, login)).status).toBe(200)
  expect((await key.register(thief, login)).status, 'an answer that was lost').toBe(200)
  expect((await other.register(thief, login)).status, 'another key').toBe(403)
  expect(await limiter.sessions.list(2)).toMatchObject([{ bound: key.bound }])
})

it('a browser that sends no cookie to register, as after a login that another site has begun, binds its session', async () => {
  const { browser: newBrowser, limiter } = await startBound()
  const [browser, key] = [newBrowser(), new DeviceKey()]
  const login = await browser.post('/login', ALICE)
  expect((await key.register(newBrowser(), login)).status).toBe(200)
  expect(await limiter.sessions.list(2)).toMatchObject([{ bound: key.bound }])
  loseProof(browser)
  expect([(await key.refresh(browser)).status, await browser.me()]).toEqual([200, 200])
  await limiter.sessions.endAll(2)
  expect((await new DeviceKey().register(newBrowser(), login)).status, 'a session that has ended').toBe(403)
})

it('a refresh that comes with an id that was just replaced costs the browser neither its key nor gets a proof', async () => {
  const { signIn, limiter } = await startBound()
  const { browser, key } = await signIn()
  const late = browser.copy()
  const answer = key.answerTo(await key.challenge(browser))
  await browser.post('/rotate')
  for (const lose of [() => {}, loseProof]) {
    lose(late)
    const answers = [await key.prove(late, ''), await key.prove(late, answer)]
    expect(answers.map(({ status, text, setCookies }) => [status, text, setCookies])).toEqual(
      Array(2).fill([200, '', []]),
    )
  }
  loseProof(browser)
  expect([(await key.refresh(browser)).status, await browser.me()]).toEqual([200, 200])
  await limiter.sessions.endAll(2)
  expect((await key.prove(late, answer)).json(), 'once the session has ended').toEqual({ continue: false })
})

it.each(['cross-site', 'same-site'])('a page that %s leads to is requested again by the site itself', async (site) => {
  const { signIn } = await startBound()
  const { browser, key } = await signIn()
  loseProof(browser)
  const from = (where: string, method = 'GET') =>
    browser.request(method, '/me', { headers: { ...PAGE, 'sec-fetch-site': where } })
  const again = await from(site)
  expect([again.status, again.headers.get('cache-control')]).toEqual([401, 'no-store'])
  expect(again.text).toContain('location.reload()')
  const [, script = ''] = /<script>(.*)<\/script>/.exec(again.text) ?? []
  const hash = createHash('sha256').update(script).digest('base64')
  expect(again.headers.get('content-security-policy')).toContain(`script-src 'sha256-${hash}'`)
  const pages = [await from('same-origin'), await from('none'), await from(site, 'POST')]
  expect(pages.map(({ text }) => /reload|refresh/.test(text))).toEqual([false, false, false])
  expect(
    pages.map(({ text }) => text.includes('<form')),
    'which nobody may press elsewhere',
  ).toEqual([true, true, false])
  await key.refresh(browser)
  expect((await from(site)).status).toBe(200)
})

it('a browser that says it could not get a proof is told to come back, and stays signed in', async () => {
  const { signIn } = await startBound()
  const { browser, key } = await signIn()
  loseProof(browser)
  const headers = { 'secure-session-skipped': 'quota_exceeded' }
  const delayed = await browser.get('/me', { headers })
  expect([codeOf(delayed), delayed.headers.get('retry-after')]).toEqual([[401, 'device_proof_delayed'], '60'])
  expect((await browser.get('/me', { headers: { ...headers, ...PAGE } })).text).not.toContain('<form')
  await key.refresh(browser)
  expect(await browser.me()).toBe(200)
})

it('who has lost the key can end the session and sign in again, but nobody else can end it so', async () => {
  const { signIn, limiter, origin } = await startBound()
  const { browser } = await signIn()
  const elsewhere = await browser.post('/session/leave', {}, { referer: `${origin}//evil.example/login` })
  expect(elsewhere.location, 'a path that leads to another site').toBe('/')
  expect(await browser.me()).toBe(200)
  loseProof(browser)
  expect((await browser.post('/login', ALICE)).status, 'no page passes').toBe(401)
  const foreign = await browser.post('/session/leave', {}, { 'sec-fetch-site': 'same-site' })
  expect([foreign.status, await limiter.sessions.count(2)], 'a form of another site').toEqual([403, 1])
  await browser.post('/session/leave')
  expect([await limiter.sessions.count(2), (await browser.post('/login', ALICE)).status]).toEqual([0, 200])
})

it.each(['/rotate', '/login', '/own-login', '/direct-login'])(
  'a session stays bound to its key after %s, and asks for no other',
  async (path) => {
    const { signIn, limiter } = await startBound()
    const { browser, key } = await signIn()
    const name = proofNames(browser).at(-1) ?? ''
    const before = proofIn(browser)
    const answer = await browser.post(path, ALICE)
    expect([answer.status < 400, registrationIn(answer), await browser.me()]).toEqual([true, undefined, 200])
    expect(browser.cookies.get(name)?.value).toBe(before)
    expect(await limiter.sessions.list(2)).toMatchObject([{ bound: key.bound }])
    expect((await key.refresh(browser)).status).toBe(200)
    loseProof(browser)
    expect(await browser.me()).toBe(401)
  },
)

it('copied cookies end in time although a route signs their user in again without a password', async () => {
  const { signIn } = await startBound(
    {},
    {
      further: ({ app }) =>
        app.post('/again', (request, response, next) => {
          if (!request.user) return void response.sendStatus(401)
          request.logIn(request.user, (error) => (error ? next(error) : response.sendStatus(204)))
        }),
    },
  )
  const { browser, key } = await signIn()
  advance(15 * MINUTE)
  await key.refresh(browser)
  const thief = browser.copy()
  const statuses: number[] = []
  for (let minutes = 0; minutes < 24; minutes++) {
    statuses.push((await thief.post('/again')).status)
    advance(MINUTE)
  }
  expect(statuses).toEqual([...Array(20).fill(204), ...Array(4).fill(401)])
})

it('a new id soon after the login asks again, for the same time and one key, and later it asks for none', async () => {
  const required = (request: { path: string }) => request.path === '/me'
  const { browser: newBrowser } = await startBound({ required })
  const [browser, key, later] = [newBrowser(), new DeviceKey(), newBrowser()]
  const login = await browser.post('/login', ALICE)
  await later.post('/login', { username: 'bob', password: 'secret' })
  advance(MINUTE)
  const again = await browser.post('/rotate')
  expect([(await key.register(browser, again)).status, await browser.me()]).toEqual([200, 200])
  expect((await new DeviceKey().register(browser, login)).status, 'another key').toBe(403)
  const last = await later.post('/rotate')
  expect([await later.me(), proofNames(later).length], 'the time of the login, with the new id').toEqual([200, 1])
  advance(MINUTE)
  expect((await new DeviceKey().register(later, last)).status, 'two minutes after the login').toBe(403)
  expect(codeOf(await later.get('/me'))).toEqual([401, 'device_not_bound'])
  expect(registrationIn(await later.post('/rotate'))).toBeUndefined()
  expect(codeOf(await later.get('/me'))).toEqual([401, 'device_not_bound'])
})

it('each of two logins in the same millisecond gets its own key', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { browser: newBrowser } = await startBound({}, { sessmgr: { settings: { maximum: 2 } } })
  const both = [newBrowser(), newBrowser()].map((browser) => ({ browser, key: new DeviceKey() }))
  const logins = [await both[0]?.browser.post('/login', ALICE), await both[1]?.browser.post('/login', ALICE)]
  for (const place of [1, 0]) {
    const [one, login] = [both[place], logins[place]]
    if (!one || !login) throw new Error('There is no login')
    expect((await one.key.register(one.browser, login)).status).toBe(200)
    loseProof(one.browser)
    expect([(await one.key.refresh(one.browser)).status, await one.browser.me()]).toEqual([200, 200])
  }
})

it('a key that is registered while the id changes stays with the session', async () => {
  const store = memoryStore()
  const { sessions } = store
  const { browser: newBrowser, limiter } = await startBound({}, { sessmgr: { store } })
  const [browser, key] = [newBrowser(), new DeviceKey()]
  const login = await browser.post('/login', ALICE)
  const end = sessions.end.bind(sessions)
  sessions.end = async (...given) => {
    sessions.end = end
    expect((await key.register(newBrowser(), login)).status).toBe(200)
    return end(...given)
  }
  await browser.post('/rotate')
  expect(sessions.end).toBe(end)
  expect(await browser.me(), 'before its proof has arrived').toBe(200)
  expect(await limiter.sessions.list(2)).toMatchObject([{ bound: key.bound }])
})

it('a login of a router below a path registers where the middleware is', async () => {
  const { browser } = await startBound(
    {},
    {
      further({ app, limiter }) {
        const router = Router().post('/in', (request, response, next) => {
          limiter.login(request, { id: 2 }).then(() => response.json(null), next)
        })
        app.use('/deep', router)
      },
    },
  )
  expect(registrationIn(await browser().post('/deep/in'))?.path).toBe('/session/start')
})

it('the proofs of two applications on one host have different names, and the scope of the session cookie', async () => {
  const [one, other] = [await startBound({}, { session: { cookie: { sameSite: 'none' } } }), await startBound()]
  const [first, second] = [await one.signIn(), await other.signIn()]
  expect(proofNames(first.browser)).not.toEqual(expect.arrayContaining(proofNames(second.browser)))
  const { attributes } = first.key.instructions?.credentials[0] ?? {}
  expect(attributes).toContain('SameSite=None')
})

it('an application whose sessions are never bound is told why', async () => {
  const { browser, logs } = await startBound({}, { session: { cookie: { path: '/shop' } }, mountedAt: '/shop' })
  const outside = await startBound({ url: '/session' }, { session: { cookie: { path: '/shop' } }, mountedAt: '/shop' })
  expect(registrationIn(await browser().post('/login', ALICE))?.path).toBe('/shop/session/start')
  expect(registrationIn(await outside.browser().post('/login', ALICE))).toBeUndefined()
  const outsideOf = aWarning('session-is-never-bound', /outside the path of the session cookie/)
  expect([logs, outside.logs]).toEqual([[], [[outsideOf]]])
  const apart = await startBound({}, { session: { cookie: { sameSite: 'none', partitioned: true } } })
  expect(registrationIn(await apart.browser().post('/login', ALICE))).toBeUndefined()
  expect(apart.logs).toEqual([[aWarning('session-is-never-bound', /partitioned/)]])
})

it('a browser that refuses the cookie of its proof keeps its session without a key, and the application is told why', async () => {
  const { browser: newBrowser, logs } = await startBound()
  const [browser, key] = [newBrowser(), new DeviceKey()]
  const login = await browser.post('/login', ALICE)
  loseProof(browser)
  expect((await key.register(browser, login)).status).toBe(403)
  expect([await browser.me(), logs]).toEqual([200, [[aWarning('session-is-never-bound', /proxy/)]]])
})

it('a proof outlives a change of password and rolling cookies', async () => {
  const { signIn, limiter } = await startBound({}, { session: { rolling: true, cookie: { maxAge: 60 * MINUTE } } })
  const { browser } = await signIn()
  const [session] = await limiter.sessions.list(2)
  await limiter.sessions.endOthers(2, session?.token ?? '')
  expect([await browser.me(), await browser.me()]).toEqual([200, 200])
})

it('with `required`, a session must be bound within a minute or two of its login', async () => {
  const required = (request: { path: string }) => request.path === '/me'
  const { signIn, browser: newBrowser } = await startBound({ required })
  const [{ browser }, without] = [await signIn(), newBrowser()]
  await without.post('/login', { username: 'bob', password: 'secret' })
  expect([await browser.me(), await without.me()]).toEqual([200, 200])
  advance(2 * MINUTE)
  expect([codeOf(await without.get('/me')), (await without.get('/state')).status]).toEqual([
    [401, 'device_not_bound'],
    200,
  ])
})

it('clocks that differ by a minute sign nobody out', async () => {
  const { signIn } = await startBound({ proofSeconds: 300 })
  advance(-MINUTE + 1000)
  const { browser, key } = await signIn()
  advance(MINUTE)
  expect(await browser.me()).toBe(200)
  const late = await key.challenge(browser)
  advance(MINUTE)
  expect((await key.prove(browser, key.answerTo(late))).status).toBe(200)
})

it('works below a path, and for the options of the application', async () => {
  const { signIn, browser } = await startBound({ path: '/device', url: '/shop/device' }, { mountedAt: '/shop' })
  const login = await browser().post('/login', ALICE)
  expect(registrationIn(login)?.path).toBe('/shop/device/start')
  await expect(signIn(), 'the browser would ask below /shop twice').rejects.toThrow()
  const plain = await startBound({ path: '/device' }, { mountedAt: '/shop' })
  expect(registrationIn(await plain.browser().post('/login', ALICE))?.path).toBe('/shop/device/start')
})

it('refuses what cannot be meant', async () => {
  const { limiter } = await startExpressHost()
  const refusals = [
    { proofSeconds: 299 },
    { path: 'session' },
    { path: '/' },
    { require: true },
    { required: true },
    { initiators: ['https://a.example'] },
    { initiators: ['WWW.a.example'] },
  ]
  for (const options of refusals) {
    expect(() => boundSessions(limiter, options as BoundOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    )
  }
  expect(() => boundSessions({} as never)).toThrow('boundSessions(limiter, options)')
})

it('refuses a `required` that decides later, as a promise would count as true', async () => {
  const required = (async () => false) as unknown as () => boolean
  const { browser, errors } = await startBound({ required })
  const signedIn = browser()
  await signedIn.post('/login', ALICE)
  await signedIn.get('/me')
  expect(errors).toMatchObject([{ code: 'invalid_option', message: expect.stringContaining('it returned a promise') }])
})

it('who cannot repeat a request is led to the start page, and others back', async () => {
  const { signIn, origin } = await startBound()
  const { browser } = await signIn()
  loseProof(browser)
  expect((await browser.request('POST', '/cart', { headers: PAGE })).text).toContain('name="referrer" content="origin"')
  expect((await browser.get('/cart', { headers: PAGE })).text).not.toContain('name="referrer"')
  for (const host of [origin, 'https://shop.example']) {
    const { location } = await browser.post('/session/leave', {}, { referer: `${host}/cart?a=1` })
    expect(location, 'also if a proxy changes the host').toBe('/cart?a=1')
  }
})

it('the answer to a refresh brings no cookie of the application, which may be of an earlier id', async () => {
  const session = { rolling: true, saveUninitialized: true, cookie: { maxAge: 60 * MINUTE } }
  const { signIn, limiter } = await startBound({}, { session })
  const { browser, key } = await signIn()
  expect((await browser.get('/me')).setCookies.join()).toContain('connect.sid')
  const { setCookies } = await key.refresh(browser)
  expect(setCookies).toEqual([expect.stringContaining('sessmgr_bound_')])
  await limiter.sessions.endAll(2)
  expect((await key.prove(browser, '')).setCookies).toEqual([])
})

it('refuses to be mounted before the limiter, where it would protect nothing', async () => {
  const { browser, errors } = await startExpressHost({
    unlimited: true,
    further: ({ app, limiter }) => app.use(boundSessions(limiter)),
  })
  await browser().get('/nowhere')
  expect(errors).toMatchObject([{ code: 'invalid_option', message: expect.stringContaining('after the limiter') }])
})
