import { setTimeout as sleep } from 'node:timers/promises'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { admin, bearer } from 'better-auth/plugins'
import { describe, expect, it } from 'vitest'
import { fetchCalls } from '../../../src/fetch.ts'
import { tokenOf } from '../../../src/index.ts'
import { type AuthClient, type LabOptions, PASSWORD, SITE, startAuth } from '../../support/better-auth-lab.ts'
import { createGate } from '../../support/gates.ts'

/** Starts with a user who is signed in, and with a gate before or after each later session is created. */
async function startHeld(moment: 'before' | 'after', options: LabOptions = {}) {
  const gate = createGate()
  let isHeld = false
  const hold = async () => {
    if (isHeld) await gate.pass()
  }
  const databaseHooks = { session: { create: { [moment]: hold } } }
  const lab = startAuth({ ...options, auth: { ...options.auth, databaseHooks } })
  const client = lab.client()
  await client.signUp()
  const { token, userId } = await client.session()
  isHeld = true
  return { ...lab, held: client, token: tokenOf(token), userId, gate }
}

describe('a sign-in whose session exists, but is not registered yet', () => {
  it.each(['endOthers', 'endAll', 'logoutAllUsers'] as const)('ends with the others: %s', async (way) => {
    const { client, gate, limiter, rows, token, userId } = await startHeld('after')
    const thief = client()
    const signIn = thief.signIn()
    await gate.arrived
    const { sessions } = limiter
    if (way === 'endOthers') await sessions.endOthers(userId, token)
    else await (way === 'endAll' ? sessions.endAll(userId) : sessions.logoutAllUsers())
    gate.open()
    const { status, json } = await signIn
    expect([status, json.code, thief.cookies.size]).toEqual([401, 'SESSION_ENDED', 0])
    expect(rows()).toHaveLength(way === 'endAll' ? 0 : 1)
    expect(await sessions.count(userId)).toBe(way === 'endOthers' ? 1 : 0)
  })

  it('does not end with one other session of the user', async () => {
    const { client, gate, limiter, token, userId } = await startHeld('after')
    const other = client()
    const signIn = other.signIn()
    await gate.arrived
    await limiter.sessions.end(userId, token)
    gate.open()
    expect((await signIn).status).toBe(200)
    expect(await other.isLive()).toBe(true)
  })
})

it('a sign-out ends a session that another request is about to replace', async () => {
  // Those of Drizzle and Prisma have no transactions either, unless they are asked for.
  const database = (options: object) => {
    const inner = memoryAdapter({ user: [], session: [], account: [], verification: [] })(options)
    return { ...inner, transaction: (run: (it: typeof inner) => unknown) => run(inner) }
  }
  const { held, gate, limiter, userId } = await startHeld('before', { auth: { database } as never })
  await held.send('/get-session')
  const change = { currentPassword: PASSWORD, newPassword: 'a new secret', revokeOtherSessions: true }
  const changing = held.send('/change-password', change)
  await gate.arrived
  expect((await held.copy().send('/sign-out', {})).status).toBe(200)
  gate.open()
  const { status, json } = await changing
  expect([status, json.code, await held.isLive()]).toEqual([401, 'SESSION_ENDED', false])
  expect(await limiter.sessions.count(userId)).toBe(0)
})

it('hooks for a session that sessmgr ends receive a call, without which those of OAuth providers do nothing', async () => {
  const seen: unknown[] = []
  const before = async (_: unknown, call: { context?: { internalAdapter?: object } } | null) =>
    void seen.push(typeof call?.context?.internalAdapter)
  const lab = startAuth({ auth: { databaseHooks: { session: { delete: { before } } } } })
  const client = lab.client()
  await client.signUp()
  const { token, userId } = await client.session()
  await lab.limiter.sessions.end(userId, tokenOf(token))
  expect(seen).toEqual(['object'])
  expect(lab.rows()).toEqual([])
})

it('a list of sessions has none that is over', async () => {
  const lab = startAuth()
  const [old, client] = [lab.client(), lab.client()]
  await old.signUp()
  await lab.limiter.sessions.logoutAllUsers()
  await client.signIn()
  expect(lab.rows()).toHaveLength(2)
  const { token } = await client.session()
  expect((await client.send('/list-sessions')).json).toMatchObject([{ token }])
})

it('the check of a request finds no session that better-auth has lost', async () => {
  const lab = startAuth()
  const client = lab.client()
  await client.signUp()
  const door = fetchCalls(lab.limiter, lab.plugin.sessions)
  const check = () => lab.plugin.check(door, new Request(SITE, { headers: client.headers() }))
  expect((await check()).session).toBeTruthy()
  lab.rows().length = 0
  expect(await check()).toEqual({ ended: { reason: 'missing' } })
})

describe('an impersonation', () => {
  async function start(impersonationSessionDuration: number) {
    const isAdmin = { allowImpersonatingAdmins: true, defaultRole: 'admin', impersonationSessionDuration }
    const lab = startAuth({ plugins: [bearer(), admin(isAdmin)] })
    const root = lab.client(true)
    await root.signUp('root')
    for (const name of ['ada', 'bob']) await lab.client().signUp(name)
    const begin = async (from: AuthClient, name: string) => {
      const client = from.copy()
      const userId = (lab.db.user as { name: string; id: string }[]).find((it) => it.name === name)?.id
      expect((await client.send('/admin/impersonate-user', { userId })).status).toBe(200)
      // Without the cookie that says otherwise, better-auth prolongs the session.
      client.cookies.clear()
      expect(await client.session()).toMatchObject({ userId })
      return client
    }
    return { ...lab, root, rootId: (await root.session()).userId as string, begin }
  }

  it('ends with the session that began it, also after better-auth has prolonged it', async () => {
    const { limiter, root, rootId, begin } = await start(1)
    const client = await begin(root, 'bob')
    await sleep(1100)
    expect(await client.isLive()).toBe(true)
    await limiter.sessions.endAll(rootId)
    expect(await client.isLive()).toBe(false)
  })

  it('that began in another one ends with the session that began the first', async () => {
    const { limiter, root, rootId, begin } = await start(3600)
    const client = await begin(await begin(root, 'ada'), 'bob')
    await limiter.sessions.endAll(rootId)
    expect(await client.isLive()).toBe(false)
  })
})
