import { createHash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { memorySink } from '../../../../src/audit.ts'
import { forThisFile } from '../../../support/for-this-file.ts'
import { type RestHost, type SignedIn, startRestHost } from '../../../support/rest-host.ts'

const ALICE = { id: 2, login: 'alice', display_name: 'ALICE' }
const FORGED = 'f'.repeat(64)
/** What looks like alice or her id 2, and is neither. */
const DISGUISES =
  '２ ٢ 0x2 2.0 2e0 +2 аlice ａｌｉｃｅ alıce alice\u200b \u202eecila al% alice@example.test. {"$ne":""}'
    .split(' ')
    .concat('2 3', 'alice\0', 'ali\r\nSet-Cookie: x=1\r\nce', '\ud800', 'a'.repeat(10_240), '9'.repeat(10_240))

const ends: unknown[] = []
const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
beforeAll(() => {
  host.limiter.hooks.addAction('sessmgr_session_ended', 'ends', ({ token }, end) => void ends.push([token, end]))
  // A user whose id is text, and one who has registered that id as a login name.
  const users = host.users as { id: unknown; login: string; role: string }[]
  users.push({ id: 'ab12', login: 'victim', role: 'subscriber' }, { id: 9, login: 'ab12', role: 'subscriber' })
  const { findById } = host.limiter.host?.users ?? {}
  Object.assign(host.limiter.host?.users ?? {}, {
    findById: (id: unknown) => users.find((user) => user.id === id) ?? findById?.(id),
  })
})
beforeEach(async () => {
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
  host.actions.length = 0
  ends.length = 0
})

const list = async (query: string) => (await host.call('GET', `/sessmgr/v1/sessions?${query}`, { headers })).json
const destroy = (json: object, as: object = headers) =>
  host.call('POST', '/sessmgr/v1/sessions/destroy', { headers: { ...as }, json })
const signedIn = (...all: SignedIn[]) => Promise.all(all.map(host.isSignedIn))

describe('rules 23 and 49: the user of a call', () => {
  it('is named by user, id, login or email, in any case and with blanks around it', async () => {
    for (const [field, value, login] of [
      ['user', ' 2 ', 'alice'],
      ['user', '\tALICE\n', 'alice'],
      // Digits are an id, though there be a user with that login.
      ['user', '6', '777'],
      ['id', 'ab12', 'victim'],
      ['login', 'ab12', 'ab12'],
      ['login', '777', '777'],
      ['email', 'Alice@Example.TEST', 'alice'],
    ] as const) {
      const [named, bob] = [await host.signIn(login), await host.signIn('bob')]
      const query = new URLSearchParams({ [field]: value })
      expect((await list(String(query))).sessions, value).toMatchObject([{ token: named.token }])
      host.actions.length = 0
      const { id } = host.user(login)
      const answer = await destroy({ [field]: value })
      const user = { id, login, display_name: login.toUpperCase() }
      expect([answer.status, answer.json], value).toEqual([200, { success: true, user }])
      expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', id]])
      expect(await signedIn(named, bob)).toEqual([false, true])
      await host.limiter.sessions.endAll(3)
    }
    expect((await destroy({ id: 2 })).json, 'a number').toMatchObject({ success: true, user: { id: 2 } })
  })

  it('is refused if it is missing, no text, unknown, ambiguous or named twice, and nothing ends', async () => {
    const all = [await host.signIn('alice'), await host.signIn('victim'), await host.signIn('ab12')]
    const before = await host.snapshot()
    const refused: [status: number, code: string, bodies: object[]][] = [
      [400, 'missing_identifier', [{}, { user: null }, { user: '\t\n\u00a0' }, { id: null, login: '' }]],
      [400, 'rest_invalid_param', [{ user: 2 }, { user: false }, { user: ['alice'] }, { user: 'alice', id: 3 }]],
      [404, 'user_not_found', ['nobody', '99', '777', '02', '__proto__', 'x@example.test'].map((user) => ({ user }))],
      [404, 'user_not_found', DISGUISES.map((user) => ({ user }))],
      [404, 'user_not_found', [{ id: 'alice' }, { login: '2' }, { email: 'alice' }, { id: '99' }]],
      [409, 'ambiguous_identifier', [{ user: 'ab12' }]],
    ]
    for (const [status, code, bodies] of refused) {
      for (const body of bodies) {
        const answer = await destroy(body)
        expect([answer.status, answer.json.code], JSON.stringify(body)).toEqual([status, code])
        if (!Object.values(body).every((value) => typeof value === 'string')) continue
        const query = new URLSearchParams(body as Record<string, string>)
        expect((await list(String(query))).code, `?${query}`).toBe(code)
      }
    }
    const params = { id: 'cannot be combined with user' }
    expect((await destroy({ user: 'alice', id: 3 })).json.data.params).toEqual(params)
    expect((await list('id=2&id=3')).code).toBe('rest_invalid_param')
    expect(await host.snapshot()).toEqual(before)
    expect(await signedIn(...all)).toEqual([true, true, true])
  })
})

describe('POST /sessions/destroy', () => {
  it('with a token ends that one session, fires sessmgr_destroy_session, and then knows it no more', async () => {
    const [one, two, bob] = [await host.signIn('alice'), await host.signIn('alice'), await host.signIn('bob')]
    const answer = await destroy({ user: 'alice', token: one.token })
    expect([answer.status, answer.json]).toEqual([200, { success: true, user: ALICE }])
    expect(host.actions).toEqual([['sessmgr_destroy_session', 2, one.token]])
    expect(host.sessionStore.ids()).not.toContain(one.sessionId)
    for (const token of [one.token, bob.token]) {
      const { status, json } = await destroy({ user: 'alice', token })
      expect([status, json.code]).toEqual([404, 'session_not_found'])
    }
    expect(host.actions).toHaveLength(1)
    expect(await signedIn(one, two, bob)).toEqual([false, true, true])
  })

  it('ends nothing for a forged token', async () => {
    const { token, sessionId, cookie, nonce } = await host.signIn('alice')
    const near = [sessionId, cookie, nonce, token.toUpperCase(), token.slice(1), `${token}0`, ` ${token}`, `${token}\n`]
    const others = ['', '*', '__proto__', FORGED, createHash('sha256').update(token).digest('hex')]
    const flipped = (Number.parseInt(token.slice(-1), 16) ^ 1).toString(16)
    const before = await host.snapshot()
    for (const forged of [...near, ...others, token.slice(0, -1) + flipped]) {
      const { status } = await destroy({ user: 'alice', token: forged })
      expect(status, forged).toBe(/^[0-9a-f]{64}$/.test(forged) ? 404 : 400)
    }
    expect(await host.snapshot()).toEqual(before)
  })

  it('with several tokens ends these, each once, and counts those that had already ended', async () => {
    const [one, two, three] = [await host.signIn('alice'), await host.signIn('alice'), await host.signIn('alice')]
    const bob = await host.signIn('bob')
    await host.limiter.sessions.end(2, three.token)
    host.actions.length = 0
    const answer = await destroy({ user: 'alice', tokens: [one.token, one.token, three.token, bob.token, FORGED] })
    expect([answer.status, answer.json]).toEqual([200, { success: true, user: ALICE, ended: 1, already_ended: 3 }])
    expect(host.actions).toEqual([['sessmgr_destroy_session', 2, one.token]])
    expect(await signedIn(one, two, bob)).toEqual([false, true, true])
    expect(host.sessionStore.ids()).not.toContain(one.sessionId)
    await host.limiter.sessions.logoutAllUsers()
    const stale = await destroy({ user: 'alice', tokens: [two.token] })
    expect(stale.json).toMatchObject({ ended: 0, already_ended: 1 })
  })

  it('refuses tokens that are none, too many or beside one, and names that it does not know', async () => {
    const alice = await host.signIn('alice')
    for (const [fields, name] of [
      [{ tokens: [] }, 'tokens'],
      [{ tokens: Array.from({ length: 101 }, () => FORGED) }, 'tokens'],
      [{ tokens: [FORGED, 'short'] }, 'tokens.1'],
      [{ tokens: [null] }, 'tokens.0'],
      [{ tokens: [FORGED], token: FORGED }, 'tokens'],
      [{ Tokens: [alice.token] }, 'Tokens'],
    ] as const) {
      const { status, json } = await destroy({ user: 'alice', ...fields })
      const refusal = [status, json.code, Object.keys(json.data?.params ?? {})]
      expect(refusal, JSON.stringify(fields).slice(0, 80)).toEqual([400, 'rest_invalid_param', [name]])
    }
    expect(await signedIn(alice)).toEqual([true])
  })

  it("without a token ends every session of the user, the caller's own too, and answers where there is none", async () => {
    const [admin, other, bob] = [await host.signIn('admin'), await host.signIn('admin'), await host.signIn('bob')]
    const answer = await destroy({ user: 'admin' }, admin.headers)
    expect([answer.status, answer.json.success]).toEqual([200, true])
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 1]])
    expect(await signedIn(admin, other, bob)).toEqual([false, false, true])
    expect((await destroy({ user: 'admin' }, admin.headers)).status).toBe(401)
    expect((await destroy({ user: 'carol' })).json.success).toBe(true)
  })

  it('says in sessmgr_session_ended that an administrator did it, after a site-wide logout when the owner returns', async () => {
    const [one, two] = [await host.signIn('alice'), await host.signIn('alice')]
    await destroy({ user: 'alice', token: one.token })
    await destroy({ user: 'alice' }, (await host.signIn('admin')).headers)
    const byAdmin = { kind: 'admin', by: { actor: 1, device: null, ip: null } }
    expect(ends).toEqual([one, two].map(({ token }) => [token, expect.objectContaining(byAdmin)]))
    const bob = await host.signIn('bob')
    ends.length = 0
    await host.call('POST', '/sessmgr/v1/sessions/destroy-all', { headers })
    expect(ends).toEqual([])
    expect(await signedIn(bob)).toEqual([false])
    expect(ends).toEqual([[bob.token, expect.objectContaining({ ...byAdmin, kind: 'logout_all' })]])
  })
})

describe('rule 63: POST /users/erase', () => {
  it('erases a user, who may be unknown by now, and the activity log shows who did it, but not to whom', async () => {
    const sink = memorySink()
    const own = await startRestHost({ sessmgr: { audit: { sink }, directory: true } })
    onTestFinished(() => own.close())
    const { headers } = await own.signIn('admin')
    const erase = (json: object) => own.call('POST', '/sessmgr/v1/users/erase', { headers, json })
    await own.signIn('alice')
    for (const id of [2, 77]) await own.limiter.passwords.create(id, 'script')
    const { status, json } = await erase({ user: 'alice' })
    expect([status, json]).toEqual([200, { success: true, sessions: 1, passwords: 1, events: expect.any(Number) }])
    expect(await own.limiter.sessions.list(2)).toEqual([])
    await own.call('GET', '/sessmgr/v1/audit', { headers })
    const events = (await sink.read?.({ limit: 100 }))?.events ?? []
    expect(events[0]).toMatchObject({ type: 'user.erased', initiator: 'admin', actor: 1, details: { sessions: 1 } })
    expect(events.filter(({ user, actor }) => user === 2 || actor === 2)).toEqual([])
    expect((await erase({ id: '77' })).json).toMatchObject({ success: true, passwords: 1 })
    expect((await erase({ user: 'nobody' })).json.code).toBe('user_not_found')
  })
})

/** An application of its own, because everybody is logged out. */
async function start(): Promise<RestHost> {
  const host = await startRestHost()
  onTestFinished(() => host.close())
  return host
}

const destroyAll = (host: RestHost, headers: object, json?: object) =>
  host.call('POST', '/sessmgr/v1/sessions/destroy-all', { headers: { ...headers }, json })
const signedInAt = (host: RestHost, ...all: SignedIn[]) => Promise.all(all.map(host.isSignedIn))

describe('POST /sessions/destroy-all', () => {
  it("logs everybody out but the caller's own session, and fires sessmgr_logout_all_users with the epoch", async () => {
    const host = await start()
    const [own, other, alice] = [await host.signIn('admin'), await host.signIn('admin'), await host.signIn('alice')]
    const answer = await destroyAll(host, own.headers)
    expect([answer.status, answer.json]).toEqual([200, { success: true, epoch: expect.any(Number), durable: false }])
    const { epoch } = answer.json
    expect(Number.isInteger(epoch) && Math.abs(epoch - Date.now() / 1000) < 5).toBe(true)
    expect(host.actions).toEqual([['sessmgr_logout_all_users', epoch]])
    expect(await signedInAt(host, own, other, alice)).toEqual([true, false, false])
    const ended = [other, alice].map(({ token }) => ['sessmgr_session_invalidated', expect.anything(), token])
    expect(host.actions.slice(1)).toEqual(expect.arrayContaining(ended))
    expect(await host.limiter.sessions.count(1)).toBe(1)
    expect((await host.call('GET', '/sessmgr/v1/settings', { headers: own.headers })).status).toBe(200)
    expect(await signedInAt(host, own, await host.signIn('alice')), 'a login after it').toEqual([true, true])
  })

  it("keeps the caller's session each time, and not through the call of somebody else or a script", async () => {
    const host = await start()
    const [admin, dora] = [await host.signIn('admin'), await host.signIn('dora')]
    const script = await host.scriptOf('admin')
    // A session with a nonce counts before an application password.
    for (const headers of [admin.headers, { ...admin.headers, ...script }]) {
      expect((await destroyAll(host, headers)).status).toBe(200)
      expect(await signedInAt(host, admin, dora)).toEqual([true, false])
    }
    const again = await host.signIn('dora')
    await destroyAll(host, again.headers)
    expect(await signedInAt(host, admin, again)).toEqual([false, true])
    expect((await destroyAll(host, script, { keep: 'admin', epoch: 0, user: 'alice' })).status).toBe(200)
    expect(await signedInAt(host, again)).toEqual([false])
  })
})

describe('POST /sessions/destroy-all while other calls are under way', () => {
  it("the caller's own session survives its parallel requests and a double click, however they fall", async () => {
    const host = await start()
    for (let round = 0; round < 10; round++) {
      const admin = await host.signIn('admin')
      const clicks = Array.from({ length: (round % 3) + 1 }, () => destroyAll(host, admin.headers))
      const others = Array.from({ length: 8 }, () => host.isSignedIn(admin))
      const [answers, seen] = await Promise.all([Promise.all(clicks), Promise.all(others)])
      // The first call does not end the session of the second.
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(seen).not.toContain(false)
      expect(await host.isSignedIn(admin)).toBe(true)
      await host.limiter.sessions.end(1, admin.token)
    }
    expect(host.actions.filter(([name]) => name === 'sessmgr_session_invalidated')).toEqual([])
  })

  it('rule 78: of two administrators at once, one stays and gets 200, the other gets 401', async () => {
    const host = await start()
    const count = 10
    for (let round = 0; round < count; round++) {
      const both = [await host.signIn('admin'), await host.signIn('dora')]
      const answers = await Promise.all(both.map((one) => destroyAll(host, one.headers)))
      const statuses = answers.map(({ status }) => status)
      expect(statuses.toSorted()).toEqual([200, 401])
      expect(answers.find(({ status }) => status === 401)?.json.code).toMatch(/^(session_ended|rest_forbidden)$/)
      expect(await signedInAt(host, ...both)).toEqual(statuses.map((status) => status === 200))
      for (const id of [1, 5]) await host.limiter.sessions.endAll(id)
    }
    expect(host.actions.filter(([name]) => name === 'sessmgr_logout_all_users')).toHaveLength(count)
  })
})
