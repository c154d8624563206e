import { bearer, jwt, multiSession } from 'better-auth/plugins'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fetchCalls } from '../../../src/fetch.ts'
import { memoryStore, SessmgrError, tokenOf } from '../../../src/index.ts'
import { type AuthClient, type Lab, SITE, startAuth } from '../../support/better-auth-lab.ts'

const DAY = 24 * 60 * 60 * 1000

async function signedIn(lab: Lab, isBearer = false): Promise<AuthClient> {
  const client = lab.client(isBearer)
  const { status } = lab.rows().length > 0 ? await client.signIn() : await client.signUp()
  expect(status).toBe(200)
  return client
}

/** Creates a session as a job of the application would, and a client that has its cookie. */
async function madeOutside(lab: Lab, known: AuthClient, changes: object = {}): Promise<AuthClient> {
  const { userId } = await known.session()
  const { internalAdapter } = await lab.auth.$context
  const { token } = await internalAdapter.createSession(userId, false, changes, true)
  const client = lab.client(true)
  client.token = token
  expect(lab.rows().some((row) => row.token === token)).toBe(true)
  return client
}

describe('the check of a session', () => {
  it('reads nothing from the database of better-auth for a token that the process knows', async () => {
    const lab = startAuth({ cache: 'compact' })
    const client = await signedIn(lab)
    await client.send('/get-session')
    const before = lab.calls.database
    expect((await client.send('/get-session')).json.session).toBeTruthy()
    expect(lab.calls.database).toBe(before)
  })

  it('says why a session is over where better-auth responds with 401', async () => {
    const lab = startAuth({ cache: 'compact', sessmgr: { settings: { maximum: 1, logic: 'logout_oldest' } } })
    const [old] = [await signedIn(lab), await signedIn(lab)]
    const { status, json } = await old.copy().send('/list-sessions')
    expect([status, json]).toMatchObject([
      401,
      { code: 'SESSION_ENDED', reason: 'missing', cause: { kind: 'displaced', device: 'Chrome on Linux' } },
    ])
  })

  it('decision 71: leaves the cookies of a session that is over to better-auth', async () => {
    for (const path of ['/get-session', '/list-sessions', '/sign-out']) {
      const body = path === '/sign-out' ? {} : undefined
      const answers = [startAuth({ limit: false }), startAuth()].map(async (lab) => {
        const client = await signedIn(lab)
        const { userId } = await client.session()
        if (lab.plugin) await lab.limiter.sessions.endAll(userId)
        else lab.rows().length = 0
        const { status, headers } = await client.send(path, body)
        return [status, headers.getSetCookie(), await client.isLive(), lab.rows()]
      })
      const [without, withLimit] = await Promise.all(answers)
      expect(withLimit, path).toEqual(without)
    }
  })

  it('rejects with 503 if the store is down, and changes no cookie', async () => {
    const store = memoryStore()
    const lab = startAuth({ sessmgr: { store } })
    const client = await signedIn(lab)
    const { useOf } = store.sessions
    store.sessions.useOf = () => Promise.reject(new SessmgrError('store_unavailable', 'The store is away.'))
    const answer = await client.send('/get-session')
    expect([answer.status, answer.json.code, answer.headers.getSetCookie()]).toEqual([503, 'STORE_UNAVAILABLE', []])
    store.sessions.useOf = useOf.bind(store.sessions)
    expect(await client.isLive()).toBe(true)
  })

  it('takes a bearer token before a cookie, as better-auth does, and none that better-auth ignores', async () => {
    for (const requireSignature of [false, true]) {
      const lab = startAuth({ plugins: [bearer({ requireSignature })] })
      const [client, other] = [await signedIn(lab), await signedIn(lab)]
      const [own, foreign] = [await client.session(), await other.session()]
      client.token = foreign.token
      const used = requireSignature ? own : foreign
      expect(await client.session()).toMatchObject({ token: used.token })
      await lab.limiter.sessions.end(used.userId, tokenOf(used.token))
      expect([await client.isLive(), await other.isLive()]).toEqual([false, requireSignature])
      client.token = null
      expect(await client.isLive()).toBe(!requireSignature)
    }
  })

  it('moves the life of a session with better-auth, whose expired row takes no slot', async () => {
    const lab = startAuth({ sessmgr: { settings: { maximum: 1, logic: 'block' } } })
    const { userId, token } = await (await signedIn(lab)).session()
    const expiresAt = new Date(Date.now() + 30 * DAY)
    await (await lab.auth.$context).internalAdapter.updateSession(token, { expiresAt })
    const [after] = await lab.limiter.sessions.list(userId)
    expect(Math.abs(Number(after?.expiresAt) - Number(expiresAt))).toBeLessThan(DAY)
    for (const row of lab.rows()) row.expiresAt = new Date(Date.now() - 1000)
    expect((await lab.client().signIn()).status).toBe(200)
  })

  it('finds no session that is over in a list', async () => {
    const lab = startAuth()
    await signedIn(lab)
    await lab.limiter.sessions.logoutAllUsers()
    const client = await signedIn(lab)
    expect(lab.rows()).toHaveLength(2)
    const { token } = await client.session()
    expect((await client.send('/list-sessions')).json).toMatchObject([{ token }])
  })
})

describe('a session that no endpoint has created', () => {
  it('ends at its next use', async () => {
    const lab = startAuth({ plugins: [bearer()] })
    const outside = await madeOutside(lab, await signedIn(lab))
    expect(await outside.isLive()).toBe(false)
    expect(lab.rows()).toHaveLength(1)
  })

  it('is registered at its next use if it is older than the plugin, and then counts and ends like any other', async () => {
    const lab = startAuth({ plugins: [bearer()] })
    const { count, end } = lab.limiter.sessions
    const known = await signedIn(lab)
    const old = await madeOutside(lab, known, { createdAt: new Date(Date.now() - DAY) })
    const { userId } = await known.session()
    expect(await count(userId)).toBe(1)
    const { token } = await old.session()
    expect(await count(userId)).toBe(2)
    const row = lab.rows().find((it) => it.token === token)
    await end(userId, tokenOf(token))
    lab.rows().push(row as never)
    expect(await old.isLive()).toBe(false)
  })

  it('is older than the plugin if it is older than a moment of your choice, or than the first start anywhere', async () => {
    const store = memoryStore()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * DAY })
    onTestFinished(() => void vi.useRealTimers())
    await startAuth({ sessmgr: { store } }).auth.$context
    await new Promise(setImmediate)
    vi.useRealTimers()
    for (const options of [{ sessmgr: { store } }, { limit: { adoptBefore: new Date(Date.now() - 2 * DAY) } }]) {
      const lab = startAuth({ plugins: [bearer()], ...options })
      const known = await signedIn(lab)
      const isAdopted = async (days: number) => {
        const client = await madeOutside(lab, known, { createdAt: new Date(Date.now() - days * DAY) })
        return client.isLive()
      }
      expect([await isAdopted(1), await isAdopted(3)], Object.keys(options)[0]).toEqual([false, true])
    }
  })
})

it('the application chooses which sessions count', async () => {
  const lab = startAuth({ limit: { counts: ({ userAgent }) => !userAgent?.includes('Chrome') } })
  const clients = [await signedIn(lab), await signedIn(lab), await signedIn(lab)]
  expect(await Promise.all(clients.map((client) => client.isLive()))).toEqual([true, true, true])
})

it('other accounts in the same browser are not offered once their session is over', async () => {
  const lab = startAuth({ behind: [multiSession()] })
  const browser = lab.client()
  await browser.signUp('ada')
  const { token } = await browser.session()
  await browser.signUp('bob')
  expect((await browser.send('/multi-session/list-device-sessions')).json).toHaveLength(2)
  const { userId } = await browser.session()
  const [bob] = await lab.limiter.sessions.list(userId)
  await lab.limiter.sessions.logoutAllUsers(bob)
  expect((await browser.copy().send('/multi-session/set-active', { sessionToken: token })).status).toBe(401)
  expect((await browser.send('/multi-session/list-device-sessions')).json).toHaveLength(1)
  expect(await browser.isLive()).toBe(true)
})

it('the pages of sessmgr/fetch show users their own devices, and tell why a session is over', async () => {
  const lab = startAuth({ sessmgr: { settings: { maximum: 1, logic: 'logout_oldest' } } })
  const door = fetchCalls(lab.limiter, lab.plugin.sessions)
  const devices = door.serve('/devices', lab.limiter.account())
  const visit = (client: AuthClient, path: string) =>
    new Request(SITE + path, { headers: { ...client.headers(), accept: 'text/html' } })
  const check = (request: Request) => lab.plugin.check(door, request)
  const [old, client] = [await signedIn(lab), await signedIn(lab)]
  const request = visit(client, '/devices')
  expect(await check(request)).toMatchObject({ session: { userId: lab.rows()[0]?.userId } })
  expect(await (await devices(request))?.text()).toContain('Chrome on Linux')
  const guest = visit(lab.client(), '/devices')
  expect(await check(guest)).toEqual({})
  expect((await devices(guest))?.status).not.toBe(200)
  const displaced = visit(old, '/')
  expect(await check(displaced)).toMatchObject({ ended: { cause: { kind: 'never_used' } } })
  expect(await door.notice(displaced)).toMatchObject({ cause: { device: 'Chrome on Linux' } })
  lab.rows().length = 0
  expect(await check(visit(client, '/'))).toEqual({ ended: { reason: 'missing' } })
})

it('a JWT can name its session', async () => {
  const definePayload = ({ user, session }: { user: { id: string }; session: { token: string } }) => ({
    sub: user.id,
    sid: tokenOf(session.token),
  })
  const lab = startAuth({ plugins: [jwt({ jwt: { definePayload } }), bearer()] })
  const client = await signedIn(lab)
  const { userId, token } = await client.session()
  const { json } = await client.send('/token')
  const { sid } = JSON.parse(Buffer.from(json.token.split('.')[1], 'base64url').toString())
  expect(sid).toBe(tokenOf(token))
  await lab.limiter.sessions.end(userId, sid)
  expect((await client.send('/token')).status).toBe(401)
})
