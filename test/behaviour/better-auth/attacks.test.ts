import type { BetterAuthPlugin, GenericEndpointContext } from 'better-auth'
import { createAuthEndpoint, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { bearer, multiSession, oneTimeToken, username } from 'better-auth/plugins'
import { describe, expect, it } from 'vitest'
import { memoryStore, tokenOf } from '../../../src/index.ts'
import { type AuthClient, type LabOptions, PASSWORD, SITE, startAuth } from '../../support/better-auth-lab.ts'
import { createGate } from '../../support/gates.ts'

const STORAGES = ['database', 'secondary', 'both'] as const

describe('a session that is refreshed at every request', () => {
  /** Starts with a client who is signed in. */
  async function start(storage: (typeof STORAGES)[number]) {
    const session = { updateAge: 0, expiresIn: 3600, storeSessionInDatabase: storage === 'both' }
    const lab = startAuth({ storage, auth: { session } })
    const client = lab.client()
    await client.signUp()
    return { ...lab, client, ...((await client.session()) as { token: string; userId: string }) }
  }

  it('is not brought back by its row, as of a refresh that had read it before the end', async () => {
    for (const storage of STORAGES) {
      const { client, db, limiter, rows, secondary, token, userId } = await start(storage)
      const [row, text] = [db.session?.find((it) => it.token === token), secondary.get(token)]
      await limiter.sessions.end(userId, tokenOf(token))
      if (row) db.session?.push(row)
      if (text) secondary.set(token, text)
      expect(await client.isLive(), storage).toBe(false)
      expect([rows(), secondary.has(token)]).toEqual([[], false])
    }
  })

  it('is not kept alive by a request that is held while it ends', async () => {
    for (const storage of STORAGES) {
      const { auth, limiter, client, token, userId } = await start(storage)
      const { internalAdapter } = await auth.$context
      const gate = createGate()
      const update = internalAdapter.updateSession
      internalAdapter.updateSession = async (...given) => {
        await gate.pass()
        return update(...given)
      }
      const held = client.send('/get-session')
      await gate.arrived
      await limiter.sessions.end(userId, tokenOf(token))
      gate.open()
      await held
      expect([await client.isLive(), await limiter.sessions.count(userId)], storage).toEqual([false, 0])
    }
  })
})

it.each([
  ['database', 'before'],
  ['database', 'after'],
  ['secondary', 'before'],
  ['secondary', 'after'],
] as const)('a session in %s that is revoked %s it is registered is over', async (storage, moment) => {
  const store = memoryStore()
  const gate = createGate()
  const { adopt } = store.sessions
  let isHeld = false
  store.sessions.adopt = async (...given) => {
    const [isBefore, isAfter] = ['before', 'after'].map((name) => isHeld && name === moment)
    isHeld = false
    if (isBefore) await gate.pass()
    const adopted = await adopt.apply(store.sessions, given)
    if (isAfter) await gate.pass()
    return adopted
  }
  const before = startAuth({ storage, cache: 'compact', limit: false })
  const [old, other] = [before.client(), before.client()]
  await old.signUp()
  await other.signIn()
  await old.send('/get-session') // its cookie can now answer for it
  const { token, userId } = await old.session()
  const lab = startAuth({ storage, cache: 'compact', db: before.db, sessmgr: { store } })
  for (const [key, value] of before.secondary) lab.secondary.set(key, value)
  const [here, there] = [lab.client(), lab.client()]
  here.cookies = new Map(old.cookies)
  there.cookies = new Map(other.cookies)
  expect(await there.isLive()).toBe(true)
  isHeld = true
  const held = here.copy().send('/get-session')
  await gate.arrived
  expect((await there.send('/revoke-session', { token })).status).toBe(200)
  gate.open()
  await held
  expect([await here.isLive(), await there.isLive()]).toEqual([false, true])
  expect(await lab.limiter.sessions.count(userId)).toBe(1)
})

it('a cached session is not used with the cookie of another one', async () => {
  for (const cache of ['compact', 'jwt', 'jwe'] as const) {
    const lab = startAuth({ cache })
    const [ada, eve] = [lab.client(), lab.client()]
    await ada.signUp()
    await eve.signUp('eve')
    await ada.send('/get-session')
    await lab.limiter.sessions.endAll((await ada.session()).userId)
    for (const [name, value] of ada.cookies) if (name.includes('session_data')) eve.cookies.set(name, value)
    expect((await eve.send('/get-session')).json.user.name, cache).toBe('eve')
  }
})

it('of two cookies with the same name, the one that better-auth uses is checked', async () => {
  const lab = startAuth({ cache: 'compact' })
  const [ended, live] = [lab.client(), lab.client()]
  await ended.signUp()
  await live.signIn()
  const { token, userId } = await ended.session()
  await lab.limiter.sessions.end(userId, tokenOf(token))
  const [first, second] = [ended, live].map((client) => client.headers().cookie)
  const ask = async (cookie: string) =>
    (await lab.auth.api.getSession({ headers: new Headers({ cookie }) }))?.session.token
  expect(await ask(`${first}; ${second}`)).toBeUndefined()
  expect(await ask(`${second}; ${first}`)).toBe((await live.session()).token)
})

/** Returns a lab and a client whose session has ended, although its cookies could still answer for it. */
async function startEnded(options: LabOptions = {}) {
  const lab = startAuth({ cache: 'compact', ...options })
  const client = lab.client()
  await client.signUp()
  await client.send('/get-session')
  await lab.limiter.sessions.endAll((await client.session()).userId)
  const name = () => (lab.db.user as { name: string }[])[0]?.name
  return { ...lab, ended: client, name }
}

type Pair = readonly [name: string, value: string]
/** Spellings of the Cookie header that better-auth reads like the one of a browser. */
const SPELLINGS: Readonly<Record<string, (pairs: readonly Pair[]) => string>> = {
  'a space before "="': (pairs) => pairs.map(([name, value]) => `${name} =${value}`).join('; '),
  'a tab before "="': (pairs) => pairs.map(([name, value]) => `${name}\t=${value}`).join('; '),
  'spaces around': (pairs) => pairs.map(([name, value]) => `  ${name}  =  ${value}  `).join(' ;'),
  'no space after ";"': (pairs) => pairs.map(([name, value]) => `${name}=${value}`).join(';'),
  quotes: (pairs) => pairs.map(([name, value]) => `${name}="${value}"`).join('; '),
  'a word before': (pairs) => `word; ;;${pairs.map(([name, value]) => `${name} =${value}`).join('; ')}`,
  doublets: (pairs) => [...pairs, ...pairs].map(([name, value]) => `${name} =${value}`).join('; '),
  chunks: (pairs) => pairs.flatMap(inChunks).join('; '),
}

function inChunks([name, value]: Pair): readonly string[] {
  if (!name.includes('session_data')) return [`${name} =${value}`]
  const half = value.length / 2
  return [`${name}.0 =${value.slice(0, half)}`, `${name}.1 =${value.slice(half)}`]
}

describe.each(['off', 'compact', 'jwe'] as const)('with the cookie cache %s, a session that is over', (cache) => {
  it('is over however the cookies are spelled', async () => {
    const { auth, ended, name } = await startEnded({ cache })
    for (const [spelling, write] of Object.entries(SPELLINGS)) {
      const headers = new Headers({ ...ended.headers(), cookie: write([...ended.cookies]) })
      const given = { headers, body: { name: 'eve' } } as never
      expect(await auth.api.getSession(given), spelling).toBeNull()
      await expect(auth.api.updateUser(given), spelling).rejects.toMatchObject({ statusCode: 401 })
    }
    expect(name()).toBe('ada')
  })

  it('is over for a hook that runs before, and for the endpoint after it', async () => {
    const seen: unknown[] = []
    const before = createAuthMiddleware(async (call) => void seen.push(await getSessionFromCtx(call)))
    const { ended, name } = await startEnded({ cache, plugins: [username()], auth: { hooks: { before } } })
    seen.length = 0
    const answer = await ended.copy().send('/update-user', { username: 'eve', name: 'eve' })
    expect([answer.status, answer.json.code]).toEqual([401, 'SESSION_ENDED'])
    expect((await ended.copy().send('/get-session')).json).toBeNull()
    expect([seen, name()]).toEqual([[null, null], 'ada'])
  })

  it('is over if another hook takes its token from a header', async () => {
    const handler = createAuthMiddleware(async (call) => {
      const headers = new Headers(call.headers)
      headers.set('cookie', headers.get('x-session') ?? '')
      return { context: { headers } }
    })
    const lab = startAuth({
      cache,
      plugins: [{ id: 'from-header', hooks: { before: [{ matcher: () => true, handler }] } }],
    })
    const nameOf = async (client: AuthClient) => {
      const headers = { origin: SITE, 'x-session': client.headers().cookie ?? '' }
      const answer = await lab.auth.handler(new Request(`${SITE}/api/auth/get-session`, { headers }))
      return ((await answer.json()) as { user: { name: string } } | null)?.user.name
    }
    const client = lab.client()
    const { user } = (await client.signUp()).json
    expect(await nameOf(client)).toBe('ada')
    await lab.limiter.sessions.endAll(user.id)
    expect(await nameOf(client)).toBeUndefined()
  })
})

it('a call of the application is checked like a request, also with a request only', async () => {
  const lab = startAuth({ plugins: [bearer()] })
  const client = lab.client(true)
  await client.signUp()
  const request = new Request(`${SITE}/api/auth/get-session`, { headers: client.headers() })
  const ask = async () => (await lab.auth.api.getSession({ headers: request.headers, request } as never)) as unknown
  expect(await ask()).toBeTruthy()
  await lab.limiter.sessions.logoutAllUsers()
  expect(JSON.stringify(await ask())).not.toContain('token')
})

it('nothing hands out a session that is over: no token for one login, and no endpoint of a plugin', async () => {
  const handOut = createAuthEndpoint('/hand-out', { method: 'POST' }, async (call) => {
    const [row, user] = [lab.rows()[0], lab.db.user?.[0]]
    await setSessionCookie(call as unknown as GenericEndpointContext, { session: row, user } as never)
    return { token: row?.token }
  })
  const plugin: BetterAuthPlugin = { id: 'hand-out', endpoints: { handOut } }
  const lab = startAuth({ plugins: [plugin, oneTimeToken()] })
  const [client, other, third] = [lab.client(), lab.client(), lab.client()]
  await client.signUp()
  const { json } = await client.send('/one-time-token/generate')
  expect((await other.send('/hand-out', {})).status).toBe(200)
  expect(await other.isLive()).toBe(true)
  await lab.limiter.sessions.logoutAllUsers()
  const answer = await third.send('/hand-out', {})
  expect([answer.status, answer.json.code, third.cookies.size]).toEqual([401, 'SESSION_ENDED', 0])
  expect((await third.send('/one-time-token/verify', { token: json.token })).status).toBe(400)
  expect(third.cookies.size).toBe(0)
})

it('a wrong password is a wrong password, also with the cookie of a session that is over', async () => {
  const { ended } = await startEnded()
  const answer = await ended.send('/sign-in/email', { email: 'ada@site.test', password: 'wrong' })
  expect([answer.status, answer.json.code]).toEqual([401, 'INVALID_EMAIL_OR_PASSWORD'])
})

describe.each(['endAll', 'logoutAllUsers'] as const)('a request that is held until %s has ended its session', (way) => {
  it.each([
    ['a sign-in with other accounts in the browser', false],
    ['a change of the password', true],
  ] as const)('signs nobody in again: %s', async (_, isChange) => {
    const lab = startAuth({ behind: [multiSession()] })
    const client = lab.client()
    await client.signUp()
    const { userId } = await client.session()
    const { internalAdapter } = await lab.auth.$context
    const { createSession } = internalAdapter
    const gate = createGate()
    internalAdapter.createSession = async (...given) => {
      await gate.pass()
      return createSession(...given)
    }
    const change = { currentPassword: PASSWORD, newPassword: 'a new secret', revokeOtherSessions: true }
    const held = isChange ? client.send('/change-password', change) : client.signIn()
    await gate.arrived
    await (way === 'endAll' ? lab.limiter.sessions.endAll(userId) : lab.limiter.sessions.logoutAllUsers())
    gate.open()
    const answer = await held
    expect([answer.status, answer.json.code, await client.isLive()]).toEqual([401, 'SESSION_ENDED', false])
    expect([lab.rows().length, await lab.limiter.sessions.count(userId)]).toEqual([0, 0])
  })
})
