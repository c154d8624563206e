import { createHash, randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'

const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
beforeEach(async () => {
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
  host.actions.length = 0
})

const list = async (user: string, as: Record<string, string> = headers) =>
  (await host.call('GET', `/sessmgr/v1/sessions?user=${encodeURIComponent(user)}`, { headers: as })).json
const destroy = (json: object, as: Record<string, string> = headers) =>
  host.call('POST', '/sessmgr/v1/sessions/destroy', { headers: as, json })

describe('GET /sessions', () => {
  it('tells of each live session its token, times in Unix seconds, address and user agent, oldest first', async () => {
    const from = Math.floor(Date.now() / 1000)
    const [one, two] = [await host.signIn('alice', 'Laptop/1'), await host.signIn('alice', 'Phone/2')]
    const answer = await list('alice')
    expect(answer.user).toEqual({ id: 2, login: 'alice', display_name: 'ALICE' })
    const session = (token: string, user_agent: string) => ({
      token,
      created: expect.any(Number),
      last_seen: expect.any(Number),
      expires: expect.any(Number),
      ip: '127.0.0.1',
      place: null,
      user_agent,
      device: { name: user_agent.replace('/', ' '), kind: 'program' },
      same_browser: null,
      current: false,
    })
    expect(answer.sessions).toEqual([session(one.token, 'Laptop/1'), session(two.token, 'Phone/2')])
    expect(answer.limit).toEqual({ maximum: 5, logic: 'allow', over: false })
    for (const { created, last_seen, expires } of answer.sessions) {
      for (const time of [created, last_seen, expires]) expect(Number.isInteger(time)).toBe(true)
      expect(created).toBeGreaterThanOrEqual(from)
      expect(last_seen).toBeGreaterThanOrEqual(created)
      expect(Math.abs(expires - created - 14 * 24 * 60 * 60)).toBeLessThanOrEqual(5)
    }
  })

  it('tells of them in pages where a limit is given, and says where the next page begins', async () => {
    const all: string[] = []
    for (let count = 0; count < 5; count++) all.push((await host.signIn('alice')).token)
    const pageOf = async (query: string) => {
      const { json } = await host.call('GET', `/sessmgr/v1/sessions?user=alice${query}`, { headers })
      return { tokens: json.sessions.map(({ token }: { token: string }) => token), next: json.next_after }
    }
    const first = await pageOf('&limit=2')
    expect(first).toEqual({ tokens: all.slice(0, 2), next: expect.any(Number) })
    const second = await pageOf(`&limit=3&after=${first.next}`)
    expect(second).toEqual({ tokens: all.slice(2), next: undefined })
    expect(await pageOf('')).toEqual({ tokens: all, next: undefined })
  })

  it.each(['limit=0', 'limit=1001', 'limit=1.5', 'limit=x', 'limit=', 'limit=1&limit=2', 'after=x', 'after=-1'])(
    'refuses a page that is none: %s',
    async (query) => {
      const { status, json } = await host.call('GET', `/sessmgr/v1/sessions?user=alice&${query}`, { headers })
      expect([status, json.code, Object.keys(json.data.params)]).toEqual([
        400,
        'rest_invalid_param',
        [query.split('=')[0]],
      ])
    },
  )

  it("marks the caller's own session, and no other", async () => {
    const [other, own] = [await host.signIn('admin'), await host.signIn('admin')]
    await host.signIn('alice')
    const { sessions } = await list('admin', own.headers)
    expect(sessions.map(({ token, current }: { token: string; current: boolean }) => [token, current])).toEqual([
      [other.token, false],
      [own.token, true],
    ])
    expect((await list('alice', own.headers)).sessions[0].current).toBe(false)
    for (const { current } of (await list('admin')).sessions) expect(current).toBe(false)
  })

  it('finds the user by id, e-mail and login, and says when there is none', async () => {
    const { token } = await host.signIn('alice')
    for (const user of ['2', 'ALICE', ' alice@example.test ']) expect((await list(user)).sessions[0].token).toBe(token)
    expect(await list('nobody')).toMatchObject({ code: 'user_not_found', data: { status: 404 } })
    expect(await list('  ')).toMatchObject({ code: 'missing_identifier', data: { status: 400 } })
    expect((await host.call('GET', '/sessmgr/v1/sessions', { headers })).json.code).toBe('missing_identifier')
  })

  it('has none for a user without sessions, and leaves out what a site-wide logout has made stale', async () => {
    expect(await list('carol')).toMatchObject({ user: { id: 4 }, sessions: [] })
    await host.signIn('alice')
    await host.limiter.sessions.logoutAllUsers()
    expect((await list('alice')).sessions).toEqual([])
    const { token } = await host.signIn('alice')
    expect((await list('alice')).sessions).toHaveLength(1)
    expect((await list('alice')).sessions[0].token).toBe(token)
  })

  it('changes nothing and says no raw session id', async () => {
    const { sessionId } = await host.signIn('alice')
    const before = await host.snapshot()
    expect(JSON.stringify(await list('alice'))).not.toContain(sessionId)
    expect(await host.snapshot()).toEqual(before)
  })
})

describe('POST /sessions/destroy with a token', () => {
  it('ends that one session and fires sessmgr_destroy_session', async () => {
    const [one, two] = [await host.signIn('alice'), await host.signIn('alice')]
    const answer = await destroy({ user: 'alice', token: one.token })
    expect([answer.status, answer.json]).toEqual([
      200,
      { success: true, user: { id: 2, login: 'alice', display_name: 'ALICE' } },
    ])
    expect(host.actions).toEqual([['sessmgr_destroy_session', 2, one.token]])
    expect([await host.isSignedIn(one), await host.isSignedIn(two)]).toEqual([false, true])
    expect(host.sessionStore.ids()).not.toContain(one.sessionId)
  })

  it('answers 404 session_not_found for a session that is over, and fires nothing', async () => {
    const { token } = await host.signIn('alice')
    await destroy({ user: 'alice', token })
    host.actions.length = 0
    const answer = await destroy({ user: 'alice', token })
    expect([answer.status, answer.json.code]).toEqual([404, 'session_not_found'])
    expect(host.actions).toEqual([])
  })

  it("does not end another user's session", async () => {
    const [alice, bob] = [await host.signIn('alice'), await host.signIn('bob')]
    const answer = await destroy({ user: 'alice', token: bob.token })
    expect([answer.status, answer.json.code]).toEqual([404, 'session_not_found'])
    expect([await host.isSignedIn(alice), await host.isSignedIn(bob)]).toEqual([true, true])
  })

  it('ends nothing for a forged token', async () => {
    const alice = await host.signIn('alice')
    const { token, sessionId, cookie, nonce } = alice
    const near = [sessionId, cookie, nonce, token.toUpperCase(), token.slice(1), `${token}0`, ` ${token}`, `${token}\n`]
    const twice = createHash('sha256').update(token).digest('hex')
    const flipped = [0, 1, 31, 32, 62, 63].map((at) => {
      return token.slice(0, at) + ((Number.parseInt(token[at] ?? '0', 16) + 1) % 16).toString(16) + token.slice(at + 1)
    })
    const wild = ['', '*', '%', '0', 'null', 'undefined', '__proto__', '[]', 'a'.repeat(64), '.*', "' OR 1=1"]
    const random = Array.from({ length: 20 }, () => randomBytes(32).toString('hex'))
    const before = await host.snapshot()
    for (const forged of [...near, twice, ...flipped, ...wild, ...random]) {
      const { status } = await destroy({ user: 'alice', token: forged })
      expect(status, forged).toBe(/^[0-9a-f]{64}$/.test(forged) ? 404 : 400)
    }
    expect(await host.snapshot()).toEqual(before)
    expect((await destroy({ user: 'alice', token })).status).toBe(200)
  })
})

describe('POST /sessions/destroy with several tokens', () => {
  const FORGED = 'f'.repeat(64)

  it('ends these sessions, each once, and counts those that had already ended', async () => {
    const [one, two, three] = [await host.signIn('alice'), await host.signIn('alice'), await host.signIn('alice')]
    const bob = await host.signIn('bob')
    await host.limiter.sessions.end(2, three.token)
    host.actions.length = 0
    const tokens = [one.token, one.token, three.token, bob.token, FORGED]
    const answer = await destroy({ user: 'alice', tokens })
    expect([answer.status, answer.json]).toEqual([
      200,
      { success: true, user: { id: 2, login: 'alice', display_name: 'ALICE' }, ended: 1, already_ended: 3 },
    ])
    expect(host.actions).toEqual([['sessmgr_destroy_session', 2, one.token]])
    expect(await Promise.all([one, two, bob].map(host.isSignedIn))).toEqual([false, true, true])
    expect(host.sessionStore.ids()).not.toContain(one.sessionId)
  })

  it('counts a session that a site-wide logout has ended as already ended', async () => {
    const { token } = await host.signIn('alice')
    await host.limiter.sessions.logoutAllUsers()
    expect((await destroy({ user: 'alice', tokens: [token] })).json).toMatchObject({ ended: 0, already_ended: 1 })
  })

  it.each([
    [{ tokens: [] }, 'tokens'],
    [{ tokens: Array.from({ length: 101 }, () => FORGED) }, 'tokens'],
    [{ tokens: FORGED }, 'tokens'],
    [{ tokens: [FORGED, 'short'] }, 'tokens.1'],
    [{ tokens: [null] }, 'tokens.0'],
    [{ tokens: [FORGED], token: FORGED }, 'tokens'],
  ])('refuses %j', async (fields, name) => {
    const before = await host.snapshot()
    const { status, json } = await destroy({ user: 'alice', ...fields })
    expect([status, json.code, Object.keys(json.data.params)]).toEqual([400, 'rest_invalid_param', [name]])
    expect(await host.snapshot()).toEqual(before)
  })
})

describe('POST /sessions/destroy without a token', () => {
  it('ends every session of the user, fires one action, and touches nobody else', async () => {
    const alice = [await host.signIn('alice'), await host.signIn('alice'), await host.signIn('alice')]
    const bob = await host.signIn('bob')
    expect((await destroy({ user: 'alice@example.test' })).status).toBe(200)
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 2]])
    for (const one of alice) expect(await host.isSignedIn(one)).toBe(false)
    expect(await host.isSignedIn(bob)).toBe(true)
  })

  it("ends the caller's own session too when he names himself, and answers", async () => {
    const admin = await host.signIn('admin')
    const answer = await destroy({ user: 'admin' }, admin.headers)
    expect([answer.status, answer.json.success]).toEqual([200, true])
    expect(await host.isSignedIn(admin)).toBe(false)
    expect((await destroy({ user: 'admin' }, admin.headers)).status).toBe(401)
  })
})

describe('sessmgr_session_ended', () => {
  const ends: unknown[] = []
  beforeAll(() => {
    host.limiter.hooks.addAction('sessmgr_session_ended', 'ends', ({ token }, end) => void ends.push([token, end]))
  })
  const byAdmin = { kind: 'admin', by: { actor: 1, device: null, ip: null } }
  beforeEach(() => {
    ends.length = 0
  })

  it('says that an administrator ended the session, and which one', async () => {
    const [one, two] = [await host.signIn('alice'), await host.signIn('alice')]
    await destroy({ user: 'alice', token: one.token })
    await destroy({ user: 'alice' }, (await host.signIn('admin')).headers)
    expect(ends).toEqual([one, two].map(({ token }) => [token, expect.objectContaining(byAdmin)]))
  })

  it('says so after a site-wide logout too, when the owner of the session returns', async () => {
    const alice = await host.signIn('alice')
    await host.call('POST', '/sessmgr/v1/sessions/destroy-all', { headers })
    expect(ends).toEqual([])
    expect(await host.isSignedIn(alice)).toBe(false)
    expect(ends).toEqual([[alice.token, expect.objectContaining({ ...byAdmin, kind: 'logout_all' })]])
  })
})
