import { memoryAdapter } from 'better-auth/adapters/memory'
import { admin, bearer } from 'better-auth/plugins'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import { type AuthClient, type LabOptions, PASSWORD, startAuth } from '../../support/better-auth-lab.ts'
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

it('a sign-in whose session exists, but is not registered yet, ends with all others, not with one other', async () => {
  for (const way of ['endOthers', 'endAll', 'logoutAllUsers', 'end'] as const) {
    const { client, gate, limiter, rows, token, userId } = await startHeld('after')
    const thief = client()
    const signIn = thief.signIn()
    await gate.arrived
    const { sessions } = limiter
    if (way === 'end' || way === 'endOthers') await sessions[way](userId, token)
    else await (way === 'endAll' ? sessions.endAll(userId) : sessions.logoutAllUsers())
    gate.open()
    const { status, json } = await signIn
    if (way === 'end') expect([status, await thief.isLive()]).toEqual([200, true])
    else expect([status, json.code, thief.cookies.size], way).toEqual([401, 'SESSION_ENDED', 0])
    expect(rows(), way).toHaveLength(way === 'endAll' ? 0 : 1)
    expect(await sessions.count(userId), way).toBe(way === 'endOthers' || way === 'end' ? 1 : 0)
  }
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

describe('an impersonation', () => {
  async function start(impersonationSessionDuration = 3600) {
    const isAdmin = { allowImpersonatingAdmins: true, defaultRole: 'admin', impersonationSessionDuration }
    const lab = startAuth({ cache: 'compact', plugins: [bearer(), admin(isAdmin)] })
    const root = lab.client()
    await root.signUp('root')
    for (const name of ['ada', 'bob']) await lab.client().signUp(name)
    const { userId, token } = await root.session()
    const idOf = (name: string) => (lab.db.user as { name: string; id: string }[]).find((it) => it.name === name)?.id
    const impersonate = (from: AuthClient, name: string) => from.send('/admin/impersonate-user', { userId: idOf(name) })
    /** Begins one without the cookie that says so, so that better-auth prolongs it like any other session. */
    const begin = async (from: AuthClient, name: string) => {
      const client = lab.client(true)
      client.cookies = new Map(from.cookies)
      client.token = from.token
      expect((await impersonate(client, name)).status).toBe(200)
      client.cookies.clear()
      expect(await client.session()).toMatchObject({ userId: idOf(name) })
      return client
    }
    return { ...lab, root, rootId: userId as string, token: tokenOf(token), idOf, impersonate, begin }
  }

  it('takes no slot, and ends with stopImpersonating', async () => {
    const { limiter, root, idOf, impersonate } = await start()
    expect((await impersonate(root, 'bob')).status).toBe(200)
    expect(await root.session()).toMatchObject({ userId: idOf('bob') })
    expect(await limiter.sessions.count(String(idOf('bob')))).toBe(1)
    const disguise = root.copy()
    expect((await root.send('/admin/stop-impersonating', {})).status).toBe(200)
    expect([await disguise.isLive(), (await root.session()).userId]).toEqual([false, idOf('root')])
  })

  it('ends with the session that began it', async () => {
    for (const way of ['end', 'endAll', 'logoutAllUsers'] as const) {
      const { limiter, root, rootId, token, impersonate } = await start()
      await impersonate(root, 'bob')
      expect(await root.isLive()).toBe(true)
      if (way === 'end') await limiter.sessions.end(rootId, token)
      else await (way === 'endAll' ? limiter.sessions.endAll(rootId) : limiter.sessions.logoutAllUsers())
      expect((await root.copy().send('/admin/stop-impersonating', {})).status, way).toBe(401)
      expect((await root.send('/list-sessions')).json, way).toMatchObject({ code: 'SESSION_ENDED' })
      expect(await root.isLive(), way).toBe(false)
    }
  })

  it('ends with it also after better-auth has prolonged it, and if it began in another one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { limiter, root, rootId, begin } = await start(1)
    const outer = await begin(root, 'ada')
    const inner = await begin(outer, 'bob')
    vi.setSystemTime(Date.now() + 900)
    for (const client of [outer, inner]) expect(await client.isLive()).toBe(true)
    vi.setSystemTime(Date.now() + 900)
    for (const client of [outer, inner]) expect(await client.isLive()).toBe(true)
    await limiter.sessions.endAll(rootId)
    for (const client of [outer, inner]) expect(await client.isLive()).toBe(false)
  })

  it('does not begin if that session ends meanwhile', async () => {
    const { auth, limiter, root, rootId, impersonate } = await start()
    const { internalAdapter } = await auth.$context
    const { createSession } = internalAdapter
    internalAdapter.createSession = async (...given) => {
      await limiter.sessions.endAll(rootId)
      return createSession(...given)
    }
    const { status, headers } = await impersonate(root, 'bob')
    expect(status).toBe(401)
    expect(headers.getSetCookie().filter((cookie) => /session_token=[^;]/.test(cookie))).toEqual([])
    expect(await root.isLive()).toBe(false)
  })
})
