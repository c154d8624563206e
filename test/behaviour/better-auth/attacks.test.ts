import { admin, bearer, oneTimeToken } from 'better-auth/plugins'
import { describe, expect, it } from 'vitest'
import { memoryStore, tokenOf } from '../../../src/index.ts'
import { type Lab, SITE, startAuth } from '../../support/better-auth-lab.ts'
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
    expect((await (await lab.auth.$context).internalAdapter.findSession(token))?.session.token).toBe(token)
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
  expect([answer.status, answer.json.code, other.cookies.size]).toEqual([401, 'SESSION_ENDED', 0])
})

it('the end of an impersonation does not bring back a session that is over', async () => {
  const lab = startAuth({ plugins: [admin()] })
  const [boss, ada] = [lab.client(), lab.client()]
  await boss.signUp('boss')
  for (const user of lab.db.user ?? []) user.role = 'admin'
  await ada.signUp()
  const { userId } = await ada.session()
  await boss.send('/admin/impersonate-user', { userId })
  await lab.limiter.sessions.logoutAllUsers()
  expect((await boss.send('/admin/stop-impersonating', {})).status).toBe(401)
  expect(await boss.isLive()).toBe(false)
})
