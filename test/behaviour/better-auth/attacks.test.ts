import type { BetterAuthPlugin, GenericEndpointContext } from 'better-auth'
import { createAuthEndpoint, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import { admin, bearer, multiSession, oneTimeToken, username } from 'better-auth/plugins'
import { describe, expect, it } from 'vitest'
import { memoryStore, tokenOf } from '../../../src/index.ts'
import { type AuthClient, type Lab, type LabOptions, PASSWORD, SITE, startAuth } from '../../support/better-auth-lab.ts'
import { createGate, type Gate } from '../../support/gates.ts'

const OLDEST = { settings: { maximum: 2, logic: 'logout_oldest' } } as const

/** Starts with sessions that are refreshed at every request, and holds what the test wants to be held. */
function startHeld(storage: 'database' | 'secondary' | 'both') {
  const session = { updateAge: 0, expiresIn: 3600, storeSessionInDatabase: storage === 'both' }
  const cookieCache = { enabled: true, maxAge: 1, strategy: 'compact' } as const
  return startAuth({ storage, auth: { session: { ...session, cookieCache } } })
}

/** Holds the refresh of a session once it has been read. */
function holdRefresh({ secondary, db }: Lab, token: string): Gate {
  const gate = createGate()
  const [row] = (db.session ?? []).filter((it) => it.token === token)
  const text = secondary.get(token)
  const { set } = secondary
  void gate.pass().then(() => {
    if (row && !db.session?.includes(row)) db.session?.push(row)
    if (text) set.call(secondary, token, text)
  })
  return gate
}

describe.each(['database', 'secondary', 'both'] as const)('with sessions in %s', (storage) => {
  it('a row that comes back, as after a refresh that was held, brings no ended session back', async () => {
    const lab = startHeld(storage)
    const client = lab.client()
    await client.signUp()
    const { token, userId } = await client.session()
    const gate = holdRefresh(lab, token)
    await lab.limiter.sessions.end(userId, tokenOf(token))
    gate.open()
    await gate.arrived
    await new Promise(setImmediate)
    expect(lab.secondary.has(token) || lab.rows().some((row) => row.token === token)).toBe(true)
    expect(await client.isLive()).toBe(false)
    expect(lab.rows()).toEqual([])
  })

  it('a request that is held while its session ends does not keep it alive', async () => {
    const lab = startHeld(storage)
    const client = lab.client()
    await client.signUp()
    const { token, userId } = await client.session()
    const { internalAdapter } = await lab.auth.$context
    const gate = createGate()
    const update = internalAdapter.updateSession
    internalAdapter.updateSession = async (...given) => {
      await gate.pass()
      return update(...given)
    }
    await new Promise((resolve) => setTimeout(resolve, 1100)) // the cached cookie has expired
    const held = client.send('/get-session')
    await gate.arrived
    await lab.limiter.sessions.end(userId, tokenOf(token))
    gate.open()
    await held
    expect(await client.isLive()).toBe(false)
    expect(await lab.limiter.sessions.count(userId)).toBe(0)
  })
})

it.each([
  ['database', 'before'],
  ['database', 'after'],
  ['secondary', 'before'],
  ['secondary', 'after'],
  ['both', 'before'],
  ['both', 'after'],
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
  expect([await here.isLive(), await there.isLive(), await lab.limiter.sessions.count(userId)]).toEqual([
    false,
    true,
    1,
  ])
})

it.each(['compact', 'jwt', 'jwe'] as const)(
  'a cached session is not used with the cookie of another one: %s',
  async (cache) => {
    const lab = startAuth({ cache })
    const [ada, eve] = [lab.client(), lab.client()]
    await ada.signUp()
    await eve.signUp('eve')
    await ada.send('/get-session')
    const { userId } = await ada.session()
    await lab.limiter.sessions.endAll(userId)
    for (const [name, value] of ada.cookies) if (name.includes('session_data')) eve.cookies.set(name, value)
    expect((await eve.send('/get-session')).json.user.name).toBe('eve')
  },
)

it('of two cookies with the same name, the one that better-auth uses is checked', async () => {
  const lab = startAuth({ cache: 'compact' })
  const [ended, live] = [lab.client(), lab.client()]
  await ended.signUp()
  await live.signIn()
  const { token, userId } = await ended.session()
  await lab.limiter.sessions.end(userId, tokenOf(token))
  const [first, second] = [ended, live].map((client) => client.headers().cookie)
  const ask = async (cookie: string) => {
    const headers = new Headers({ cookie })
    return (await lab.auth.api.getSession({ headers }))?.session.token
  }
  expect(await ask(`${first}; ${second}`)).toBeUndefined()
  expect(await ask(`${second}; ${first}`)).toBe((await live.session()).token)
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

it('two applications on one store and one database keep one limit, and see the ends of each other', async () => {
  const store = memoryStore()
  const one = startAuth({ sessmgr: { store, ...OLDEST }, cache: 'compact' })
  const two = startAuth({ sessmgr: { store, ...OLDEST }, cache: 'compact', db: one.db })
  const [first, second, third] = [one.client(), two.client(), one.client()]
  await first.signUp()
  await second.signIn()
  await third.signIn()
  expect([await first.isLive(), await second.isLive(), await third.isLive()]).toEqual([false, true, true])
  const { token, userId } = await second.session()
  await one.limiter.sessions.end(userId, tokenOf(token))
  expect(await second.isLive()).toBe(false)
  await two.limiter.sessions.logoutAllUsers()
  expect(await third.isLive()).toBe(false)
})

it('a token for one login does not sign in to a session that is over', async () => {
  const lab = startAuth({ plugins: [oneTimeToken()] })
  const [client, other] = [lab.client(), lab.client()]
  await client.signUp()
  const { json } = await client.send('/one-time-token/generate')
  await lab.limiter.sessions.logoutAllUsers()
  const answer = await other.send('/one-time-token/verify', { token: json.token })
  expect([answer.status, other.cookies.size]).toEqual([400, 0])
})

describe('an impersonation', () => {
  async function start() {
    const lab = startAuth({ plugins: [admin()], cache: 'compact' })
    const [boss, ada] = [lab.client(), lab.client()]
    await boss.signUp('boss')
    for (const user of lab.db.user ?? []) user.role = 'admin'
    await ada.signUp()
    const [{ userId }, own] = [await ada.session(), await boss.session()]
    const impersonate = () => boss.send('/admin/impersonate-user', { userId })
    return { ...lab, boss, ada, own, impersonate }
  }

  it.each(['end', 'endAll', 'logoutAllUsers'] as const)('ends with the session that began it: %s', async (way) => {
    const { limiter, boss, own, impersonate } = await start()
    await impersonate()
    expect(await boss.isLive()).toBe(true)
    const ends = {
      end: () => limiter.sessions.end(own.userId, tokenOf(own.token)),
      endAll: () => limiter.sessions.endAll(own.userId),
      logoutAllUsers: () => limiter.sessions.logoutAllUsers(),
    }
    await ends[way]()
    expect((await boss.copy().send('/admin/stop-impersonating', {})).status).toBe(401)
    expect((await boss.send('/list-sessions')).json).toMatchObject({ code: 'SESSION_ENDED' })
    expect(await boss.isLive()).toBe(false)
  })

  it('does not begin if that session ends meanwhile', async () => {
    const { auth, limiter, boss, own, impersonate } = await start()
    const { internalAdapter } = await auth.$context
    const { createSession } = internalAdapter
    internalAdapter.createSession = async (...given) => {
      await limiter.sessions.endAll(own.userId)
      return createSession(...given)
    }
    const { status, headers } = await impersonate()
    expect(status).toBe(401)
    expect(headers.getSetCookie().filter((cookie) => /session_token=[^;]/.test(cookie))).toEqual([])
    expect(await boss.isLive()).toBe(false)
  })
})

/** Returns a lab and a client whose session has ended, although its cookies could still answer for it. */
async function startEnded(options: LabOptions = {}) {
  const lab = startAuth({ cache: 'compact', ...options })
  const client = lab.client()
  await client.signUp()
  await client.send('/get-session')
  const { token, userId } = await client.session()
  await lab.limiter.sessions.endAll(userId)
  const name = () => (lab.db.user as { name: string }[])[0]?.name
  return { ...lab, ended: client, token, userId, name }
}

type Pair = readonly [name: string, value: string]
/** Spellings of the Cookie header that better-auth reads like the one of a browser. */
const SPELLINGS: readonly (readonly [name: string, write: (pairs: readonly Pair[]) => string])[] = [
  ['a space before "="', (pairs) => pairs.map(([name, value]) => `${name} =${value}`).join('; ')],
  ['a tab before "="', (pairs) => pairs.map(([name, value]) => `${name}\t=${value}`).join('; ')],
  ['spaces around', (pairs) => pairs.map(([name, value]) => `  ${name}  =  ${value}  `).join(' ;')],
  ['no space after ";"', (pairs) => pairs.map(([name, value]) => `${name}=${value}`).join(';')],
  ['quotes', (pairs) => pairs.map(([name, value]) => `${name}="${value}"`).join('; ')],
  ['a word before', (pairs) => `word; ;;${pairs.map(([name, value]) => `${name} =${value}`).join('; ')}`],
  ['doublets', (pairs) => [...pairs, ...pairs].map(([name, value]) => `${name} =${value}`).join('; ')],
  ['chunks', (pairs) => pairs.flatMap(inChunks).join('; ')],
]

function inChunks([name, value]: Pair): readonly string[] {
  if (!name.includes('session_data')) return [`${name} =${value}`]
  const half = value.length / 2
  return [`${name}.0 =${value.slice(0, half)}`, `${name}.1 =${value.slice(half)}`]
}

describe.each(['off', 'compact', 'jwt', 'jwe'] as const)(
  'with the cookie cache %s, a session that is over',
  (cache) => {
    it('is over however the cookies are spelled', async () => {
      const { auth, ended, name } = await startEnded({ cache })
      const live = startAuth({ cache }).client()
      await live.signUp()
      for (const [spelling, write] of SPELLINGS) {
        const headers = new Headers({ ...ended.headers(), cookie: write([...ended.cookies]) })
        const given = { headers, body: { name: 'eve' } } as never
        expect([spelling, await auth.api.getSession(given)]).toEqual([spelling, null])
        await expect(auth.api.updateUser(given)).rejects.toMatchObject({ statusCode: 401 })
        await expect(auth.api.listSessions(given)).rejects.toMatchObject({ statusCode: 401 })
      }
      expect(name()).toBe('ada')
    })

    it('is over for a hook that runs before, and for the endpoint after it', async () => {
      const seen: unknown[] = []
      const before = createAuthMiddleware(async (call) => void seen.push(await getSessionFromCtx(call)))
      const { ended, name } = await startEnded({ cache, auth: { hooks: { before } } })
      seen.length = 0
      expect((await ended.copy().send('/update-user', { name: 'eve' })).status).toBe(401)
      expect((await ended.copy().send('/get-session')).json).toBeNull()
      expect([seen, name()]).toEqual([[null, null], 'ada'])
    })

    it('does not change the user name of its user', async () => {
      const { ended, name } = await startEnded({ cache, plugins: [username()] })
      const answer = await ended.copy().send('/update-user', { username: 'eve', name: 'eve' })
      expect([answer.status, answer.json.code, name()]).toEqual([401, 'SESSION_ENDED', 'ada'])
    })

    it('is over if another hook takes its token from a header', async () => {
      const handler = createAuthMiddleware(async (call) => {
        const headers = new Headers(call.headers)
        headers.set('cookie', headers.get('x-session') ?? '')
        return { context: { headers } }
      })
      const plugin = { id: 'from-header', hooks: { before: [{ matcher: () => true, handler }] } }
      const lab = startAuth({ cache, plugins: [plugin] })
      const ask = async (client: AuthClient) => {
        const headers = { origin: SITE, 'x-session': client.headers().cookie ?? '' }
        return (await (
          await lab.auth.handler(new Request(`${SITE}/api/auth/get-session`, { headers }))
        ).json()) as unknown
      }
      const [first, second] = [lab.client(), lab.client()]
      await first.signUp()
      const { user } = (await second.signIn()).json
      expect([await ask(first), await ask(second)]).toMatchObject([
        { user: { name: 'ada' } },
        { user: { name: 'ada' } },
      ])
      await lab.limiter.sessions.endAll(user.id)
      expect([await ask(first), await ask(second)]).toEqual([null, null])
    })
  },
)

it('of several accounts in a browser, none is over only for some spellings of its cookie', async () => {
  const lab = startAuth({ behind: [multiSession()] })
  const browser = lab.client()
  await browser.signUp('ada')
  const { token, userId } = await browser.session()
  await browser.signUp('bob')
  await lab.limiter.sessions.endAll(userId)
  browser.cookies = new Map([...browser.cookies].map(([name, value]) => [`${name} `, value]))
  expect((await browser.copy().send('/multi-session/list-device-sessions')).json).toHaveLength(1)
  expect((await browser.copy().send('/multi-session/set-active', { sessionToken: token })).status).toBe(401)
})

it('an endpoint that hands out an older session without better-auth does not hand out one that is over', async () => {
  const handOut = createAuthEndpoint('/hand-out', { method: 'POST' }, async (call) => {
    const [row, user] = [lab.rows()[0], lab.db.user?.[0]]
    await setSessionCookie(call as unknown as GenericEndpointContext, { session: row, user } as never)
    return { token: row?.token }
  })
  const plugin: BetterAuthPlugin = { id: 'hand-out', endpoints: { handOut } }
  const lab = startAuth({ plugins: [plugin] })
  const [client, other] = [lab.client(), lab.client()]
  await client.signUp()
  expect((await other.send('/hand-out', {})).status).toBe(200)
  expect(await other.isLive()).toBe(true)
  await lab.limiter.sessions.logoutAllUsers()
  const third = lab.client()
  const answer = await third.send('/hand-out', {})
  expect([answer.status, answer.json.code, third.cookies.size]).toEqual([401, 'SESSION_ENDED', 0])
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
