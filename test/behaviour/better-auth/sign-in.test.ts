import { bearer, genericOAuth, multiSession, oauthPopup, twoFactor } from 'better-auth/plugins'
import { describe, expect, it, vi } from 'vitest'
import { memoryStore, SessmgrError, tokenOf } from '../../../src/index.ts'
import { type AuthClient, type Lab, type LabOptions, PASSWORD, SITE, startAuth } from '../../support/better-auth-lab.ts'

const BLOCK = { sessmgr: { settings: { maximum: 1, logic: 'block' } } } as const
const tokensIn = (headers: Headers) => [...headers].filter(([, value]) => /session_(token|data)/.test(value))

/** An OAuth provider that lets ada in. */
const provider = () =>
  genericOAuth({
    config: [
      {
        providerId: 'local',
        clientId: 'id',
        clientSecret: 'secret',
        authorizationUrl: 'http://127.0.0.1:9/authorize',
        tokenUrl: 'http://127.0.0.1:9/token',
        getToken: async () => ({ accessToken: 'token', tokenType: 'Bearer' }),
        getUserInfo: async () => ({ id: '7', email: 'ada@site.test', emailVerified: true, name: 'ada' }),
      },
    ],
  })

async function signInByOAuth(client: AuthClient) {
  const begun = await client.send('/sign-in/social', { provider: 'local', callbackURL: '/home' })
  const state = new URL(begun.json.url).searchParams.get('state')
  return client.send(`/callback/local?code=code&state=${state}`)
}

async function enableTwoFactor({ db }: Lab, client: AuthClient): Promise<string[]> {
  const { json } = await client.send('/two-factor/enable', { password: PASSWORD })
  for (const user of db.user ?? []) user.twoFactorEnabled = true
  return json.backupCodes
}

const away = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))

describe('a sign-in with better-auth', () => {
  it('ends the oldest session before its response, with one limit for all applications on a store', async () => {
    const store = memoryStore()
    const lab = startAuth({ sessmgr: { store }, cache: 'compact' })
    const other = startAuth({ sessmgr: { store }, cache: 'compact', db: lab.db })
    const clients = [lab.client(), other.client(), lab.client()] as const
    await clients[0].signUp()
    await clients[1].signIn()
    expect((await clients[2].signIn()).status).toBe(200)
    const live = () => Promise.all(clients.map((client) => client.isLive()))
    expect([lab.rows().length, await live()]).toEqual([2, [false, true, true]])
    const { token, userId } = await clients[1].session()
    await lab.limiter.sessions.end(userId, tokenOf(token))
    expect(await live()).toEqual([false, false, true])
    await other.limiter.sessions.logoutAllUsers()
    expect(await live()).toEqual([false, false, false])
  })

  it('in mode block is refused, without a cookie, a token or a row, and changes nothing in its browser', async () => {
    const lab = startAuth({ ...BLOCK, plugins: [bearer()], behind: [multiSession()] })
    const [one, browser] = [lab.client(), lab.client()]
    await one.signUp('ada')
    await browser.signUp('bob')
    const cookies = new Map(browser.cookies)
    const answer = await browser.signIn('ada')
    expect([answer.status, answer.json]).toEqual([403, { code: 'LOGIN_LIMIT_REACHED', message: expect.any(String) }])
    expect([tokensIn(answer.headers), answer.headers.get('set-auth-token')]).toEqual([[], null])
    expect([browser.cookies, lab.rows().length, await one.isLive()]).toEqual([cookies, 2, true])
    expect(await browser.session()).toMatchObject({ userId: lab.rows()[1]?.userId })
  })

  it('in the same browser replaces its session', async () => {
    for (const storage of ['database', 'secondary'] as const) {
      for (const behind of [[], [multiSession()]]) {
        const lab = startAuth({ ...BLOCK, storage, behind })
        const one = lab.client()
        await one.signUp()
        const before = one.copy()
        expect((await one.signIn()).status).toBe(200)
        expect([await before.isLive(), await one.isLive()]).toEqual([false, true])
        expect(await lab.limiter.sessions.count((await one.session()).userId)).toBe(1)
      }
    }
  })

  it('is refused if the session it continues has ended meanwhile', async () => {
    let end = async () => {}
    const hash = { hash: async (it: string) => it, verify: async () => end().then(() => true) }
    const lab = startAuth({ auth: { emailAndPassword: { enabled: true, password: hash } } })
    const client = lab.client()
    await client.signUp()
    const { userId } = await client.session()
    end = async () => void (await lab.limiter.sessions.endAll(userId))
    const answer = await client.signIn()
    expect([answer.status, answer.json.code, tokensIn(answer.headers)]).toEqual([401, 'SESSION_ENDED', []])
    expect(lab.rows()).toEqual([])
  })

  it('fails with 503 if the store is down, changes no cookie, and keeps the session that it would replace', async () => {
    for (const storage of ['database', 'secondary'] as const) {
      const store = memoryStore()
      const lab = startAuth({ sessmgr: { store }, storage, behind: [multiSession()] })
      const client = lab.client()
      await client.signUp()
      const { read } = store.sessions
      store.sessions.read = away
      const answer = await client.signIn()
      expect([answer.status, answer.json.code]).toEqual([503, 'STORE_UNAVAILABLE'])
      expect([answer.headers.get('retry-after'), answer.headers.getSetCookie()]).toEqual(['2', []])
      store.sessions.read = read
      expect([await client.isLive(), lab.rows().length]).toEqual([true, storage === 'database' ? 1 : 0])
    }
  })

  it('sends the device cookie, by which a browser without a session is recognized', async () => {
    const lab = startAuth({ sessmgr: { settings: { maximum: 1, logic: 'block' }, device: true } })
    const client = lab.client()
    await client.signUp()
    for (const name of client.cookies.keys()) if (name.includes('session')) client.cookies.delete(name)
    expect((await client.signIn()).status).toBe(200)
    const [session] = await lab.limiter.sessions.list(String(lab.rows()[0]?.userId))
    expect(session).toMatchObject({ device: expect.any(String), userAgent: expect.stringContaining('Chrome') })
  })
})

describe('an OAuth sign-in', () => {
  it('that is refused lands at the page for errors, or at your own, without a session', async () => {
    for (const [limit, page] of [
      [{ refusedUrl: '/too-many' }, '/too-many'],
      [{}, `${SITE}/api/auth/error?error=login_limit_reached`],
    ] as const) {
      const lab = startAuth({ ...BLOCK, plugins: [provider(), bearer()], limit })
      const [one, two] = [lab.client(), lab.client()]
      await signInByOAuth(one)
      const answer = await signInByOAuth(two)
      expect([answer.status, answer.headers.get('location')]).toEqual([302, page])
      expect([tokensIn(answer.headers), answer.headers.get('set-auth-token')]).toEqual([[], null])
      expect([await one.isLive(), lab.rows().length]).toEqual([true, 1])
    }
  })

  it('without the store lands at the page for errors', async () => {
    const store = memoryStore()
    const errorURL = 'https://site.test/sorry?from=auth'
    const lab = startAuth({ sessmgr: { store }, plugins: [provider()], auth: { onAPIError: { errorURL } } })
    store.sessions.read = away
    const answer = await signInByOAuth(lab.client())
    expect([answer.status, answer.headers.get('location')]).toEqual([302, `${errorURL}&error=store_unavailable`])
    expect([tokensIn(answer.headers), lab.rows()]).toEqual([[], []])
  })
})

it('a refused sign-in in a popup shows the popup why', async () => {
  const lab = startAuth({ ...BLOCK, plugins: [provider(), bearer(), oauthPopup()] })
  const signIn = async (client: AuthClient) => {
    const query = new URLSearchParams({ provider: 'local', popupOrigin: SITE, popupNonce: 'n', callbackURL: '/home' })
    const begun = await client.send(`/oauth-popup/start?${query}`)
    const state = new URL(String(begun.headers.get('location'))).searchParams.get('state')
    return client.send(`/callback/local?code=code&state=${state}`)
  }
  expect((await signIn(lab.client())).text).toMatch(/"token":"[^"]+"/)
  const browser = lab.client()
  const answer = await signIn(browser)
  expect([answer.status, tokensIn(answer.headers)]).toEqual([200, []])
  expect(answer.text).toContain('"error":{"code":"login_limit_reached"}')
  expect(answer.text).not.toContain('"token"')
  expect([await browser.isLive(), lab.rows().length]).toEqual([false, 1])
})

it('a sign-in as another user ends the session of the first, but not one that the browser or a caller keeps', async () => {
  async function change(options: LabOptions, isCall = false) {
    const lab = startAuth({ ...BLOCK, ...options })
    const browser = lab.client()
    await browser.signUp('bob')
    await browser.send('/sign-out', {})
    await browser.signUp('ada')
    const before = browser.copy()
    const body = { email: 'bob@site.test', password: PASSWORD }
    if (isCall) await lab.auth.api.signInEmail({ body, headers: new Headers(browser.headers()) })
    else expect((await browser.signIn('bob')).status).toBe(200)
    return { before, browser }
  }
  const { before, browser } = await change({})
  expect([await before.isLive(), await browser.isLive()]).toEqual([false, true])
  expect((await browser.signIn('ada')).status).toBe(200)
  // Several accounts in a browser, and a call of the application, whose response may go elsewhere.
  expect(await (await change({ behind: [multiSession()] })).before.isLive()).toBe(true)
  expect(await (await change({}, true)).before.isLive()).toBe(true)
})

it('a hook of the application may change the token of a new session', async () => {
  const before = async (session: { token: string }) => ({ data: { ...session, token: `own-${session.token}` } })
  const lab = startAuth({ ...BLOCK, auth: { databaseHooks: { session: { create: { before } } } } })
  const client = lab.client()
  await client.signUp()
  expect((await client.session()).token).toMatch(/^own-/)
  expect((await lab.client().signIn()).status).toBe(403)
})

it('ask mode is not available, which is logged once', async () => {
  const logger = { warn: vi.fn(), error: vi.fn() }
  const lab = startAuth({ sessmgr: { logger, settings: { maximum: 1, logic: 'ask' } } })
  await lab.auth.$context
  await new Promise(setImmediate)
  const lines = () => logger.warn.mock.calls.filter(([line]) => /^sessionLimit.*"ask" mode/.test(line))
  expect(lines()).toHaveLength(1)
  await lab.client().signUp()
  expect((await lab.client().signIn()).status).toBe(403)
  expect(lines()).toHaveLength(1)
})

describe('two factors', () => {
  it('ten first factors end nothing, and the second factor ends the oldest session', async () => {
    const lab = startAuth({ plugins: [twoFactor()], sessmgr: { settings: { maximum: 1, logic: 'logout_oldest' } } })
    const owner = lab.client()
    await owner.signUp()
    const [code] = await enableTwoFactor(lab, owner)
    const thieves = Array.from({ length: 10 }, () => lab.client())
    const answers = await Promise.all(thieves.map((thief) => thief.signIn()))
    expect(answers.map(({ json }) => json.twoFactorRedirect)).toEqual(Array(10).fill(true))
    expect([await owner.isLive(), lab.rows().length]).toEqual([true, 1])
    const [entitled] = thieves
    expect((await entitled?.send('/two-factor/verify-backup-code', { code }))?.status).toBe(200)
    expect([await owner.isLive(), await entitled?.isLive(), lab.rows().length]).toEqual([false, true, 1])
  })

  it('enabling them keeps the user signed in', async () => {
    for (const storage of ['database', 'secondary', 'both'] as const) {
      const lab = startAuth({ ...BLOCK, storage, plugins: [twoFactor({ skipVerificationOnEnable: true })] })
      const owner = lab.client()
      await owner.signUp()
      const before = owner.copy()
      expect((await owner.send('/two-factor/enable', { password: PASSWORD })).status).toBe(200)
      expect([await before.isLive(), await owner.isLive()], storage).toEqual([false, true])
    }
  })
})
