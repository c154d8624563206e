import { betterAuth } from 'better-auth'
import { nextCookies } from 'better-auth/next-js'
import {
  anonymous,
  bearer,
  deviceAuthorization,
  type JwtOptions,
  jwt,
  multiSession,
  organization,
} from 'better-auth/plugins'
import { decodeJwt } from 'jose'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sessionLimit } from '../../../src/better-auth.ts'
import { memoryStore, SessmgrError, sessmgr } from '../../../src/index.ts'
import { runBlock } from '../../docs/recipe-app.ts'
import { type AuthClient, type LabOptions, type Storage, startAuth } from '../../support/better-auth-lab.ts'

const STORAGES: readonly Storage[] = ['database', 'secondary', 'both']

describe('device authorization', () => {
  const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

  /** A television asks for a code, and ada approves it in her browser. */
  async function start(options: LabOptions = {}) {
    const plugins = [deviceAuthorization({ interval: '1s', verificationUri: '/device' }), bearer()]
    const lab = startAuth({ plugins, ...options })
    const browser = lab.client()
    await browser.signUp()
    const { userId } = await browser.session()
    const request = async () => {
      const { json } = await lab.client().send('/device/code', { client_id: 'television' })
      await browser.send(`/device?user_code=${json.user_code}`)
      expect((await browser.send('/device/approve', { userCode: json.user_code })).status).toBe(200)
      return json.device_code as string
    }
    const signIn = async (device_code: string, television = lab.client(true)) => {
      const answer = await television.send('/device/token', { grant_type: GRANT, device_code, client_id: 'television' })
      television.token = answer.json?.access_token ?? null
      return { ...answer, television }
    }
    return { ...lab, userId, browser, request, signIn }
  }
  const countLive = async (clients: readonly AuthClient[]) =>
    (await Promise.all(clients.map((client) => client.isLive()))).filter(Boolean).length

  it('gives a token that counts, and ends with its session', async () => {
    for (const storage of STORAGES) {
      const { limiter, userId, browser, request, signIn } = await start({ storage })
      const { status, television } = await signIn(await request())
      expect([status, await television.isLive(), await limiter.sessions.count(userId)]).toEqual([200, true, 2])
      const [kept] = await limiter.sessions.list(userId)
      await limiter.sessions.endOthers(userId, kept?.token ?? '')
      expect(await countLive([television, browser]), storage).toBe(1)
    }
  })

  it('gives no token that is refused, and leaves no session', async () => {
    const settings = { maximum: 2, logic: 'block' } as const
    const { limiter, userId, rows, client, request, signIn } = await start({ sessmgr: { settings } })
    const code = await request()
    await client().signIn()
    const { status, json } = await signIn(code)
    expect([status, json.code, json.access_token]).toEqual([403, 'LOGIN_LIMIT_REACHED', undefined])
    expect([rows().length, await limiter.sessions.count(userId)]).toEqual([2, 2])
  })
})

it('choosing an organization keeps the session, and another session of the user', async () => {
  const lab = startAuth({ cache: 'jwe', plugins: [organization()] })
  for (const model of ['organization', 'member', 'invitation']) lab.db[model] ??= []
  const [one, two] = [lab.client(), lab.client()]
  await one.signUp()
  await two.signIn()
  const { json } = await one.send('/organization/create', { name: 'Acme', slug: 'acme' })
  for (const client of [one, two]) {
    expect((await client.send('/organization/set-active', { organizationId: json.id })).status).toBe(200)
  }
  const { activeOrganizationId, userId } = await one.session()
  expect([activeOrganizationId, await two.isLive()]).toEqual([json.id, true])
  await lab.limiter.sessions.endAll(userId)
  expect((await one.copy().send('/organization/set-active', { organizationId: null })).status).toBe(401)
  expect([await one.isLive(), await two.isLive()]).toEqual([false, false])
})

describe('a guest of anonymous() who signs in', () => {
  /** Starts with Ada signed in somewhere, and with a browser that belongs to a guest. */
  async function startGuest(storage: Storage = 'database') {
    const onLinkAccount = vi.fn()
    const store = memoryStore()
    const settings = { maximum: 1, logic: 'block' } as const
    const lab = startAuth({ sessmgr: { settings, store }, storage, behind: [anonymous({ onLinkAccount })] })
    const [one, browser] = [lab.client(), lab.client()]
    await one.signUp('ada')
    await browser.send('/sign-in/anonymous', {})
    const guest = await browser.session()
    const isThere = () => lab.db.user?.some(({ id }) => id === guest.userId)
    return { ...lab, store, one, browser, guest, onLinkAccount, isThere }
  }

  it('stays a guest if the login is refused, or while the store is down', async () => {
    const { browser, guest, onLinkAccount, isThere, store } = await startGuest()
    expect((await browser.signIn('ada')).status).toBe(403)
    expect([isThere(), (await browser.session()).userId]).toEqual([true, guest.userId])
    const { read } = store.sessions
    store.sessions.read = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))
    expect((await browser.signIn('ada')).status).toBe(503)
    store.sessions.read = read
    expect([isThere(), (await browser.session()).userId]).toEqual([true, guest.userId])
    expect(onLinkAccount).not.toHaveBeenCalled()
  })

  it('hands over to the new user', async () => {
    for (const storage of STORAGES) {
      const { browser, guest, limiter, onLinkAccount, isThere, one } = await startGuest(storage)
      const before = browser.copy()
      await one.send('/sign-out', {})
      expect((await browser.signIn('ada')).status).toBe(200)
      expect(onLinkAccount.mock.calls).toMatchObject([[{ anonymousUser: { user: { id: guest.userId } } }]])
      expect([isThere(), await limiter.sessions.count(guest.userId)], storage).toEqual([false, 0])
      expect([await before.isLive(), await browser.isLive()], storage).toEqual([false, true])
    }
  })
})

it('docs/better-auth.md: a JWT names its session, which is checked by the token', async () => {
  const given: JwtOptions[] = []
  const limiter = { sessions: { list: (userId: string) => lab.limiter.sessions.list(userId) } }
  const names = { limiter, jwt: (options: JwtOptions) => given.push(options) }
  const isLive = runBlock('better-auth', 3, names, 'isLive') as (payload: object) => Promise<boolean>
  const lab = startAuth({ plugins: [jwt(given[0])] })
  const [one, two] = [lab.client(), lab.client()]
  await one.signUp()
  await two.signIn()
  const payloads: object[] = []
  for (const client of [one, two]) payloads.push(decodeJwt((await client.send('/token')).json.token))
  const live = () => Promise.all(payloads.map((payload) => isLive(payload)))
  expect(await live()).toEqual([true, true])
  await two.send('/sign-out', {})
  expect(await live()).toEqual([true, false])
})

describe('sessionLimit', () => {
  function limited() {
    const limiter = sessmgr({ logger: { warn() {}, error() {} } })
    onTestFinished(() => limiter.close())
    return limiter
  }

  it('starts only behind other plugins, and before those that act on logins', async () => {
    const early = startAuth({ limit: false, plugins: [bearer(), sessionLimit(limited()), jwt()] })
    await expect(early.auth.$context).rejects.toThrow('sessionLimit() must come after better-auth\'s "jwt" plugin.')
    for (const plugin of [anonymous(), multiSession(), nextCookies(), { id: 'oauth-provider' }]) {
      const message = `sessionLimit() must come before better-auth's "${plugin.id}" plugin.`
      await expect(startAuth({ plugins: [plugin] }).auth.$context).rejects.toThrow(message)
    }
    const { auth } = startAuth({ plugins: [bearer()], behind: [nextCookies()] })
    expect((await auth.$context).hasPlugin('sessmgr')).toBe(true)
  })

  it('refuses to start without a place for sessions, and anything except a limiter and known options', async () => {
    const auth = betterAuth({ plugins: [sessionLimit(limited())], logger: { disabled: true } })
    await expect(auth.$context).rejects.toThrow('sessionLimit() needs "database" or "secondaryStorage".')
    expect(() => sessionLimit({} as never)).toThrow('"limiter" must be the limiter that sessmgr() returned')
    expect(() => sessionLimit(limited(), { refusedURL: '/' } as never)).toThrow('Did you mean "refusedUrl"?')
    const { sessions } = sessionLimit(limited())
    await expect(async () => sessions.exists('token')).rejects.toThrow('before betterAuth()')
  })
})
