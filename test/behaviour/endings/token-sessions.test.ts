import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { memorySink } from '../../../src/audit.ts'
import { wordNotice } from '../../../src/door/notice/tell-notice.ts'
import { memoryStore, type Sessmgr, sessmgr, tokenOf } from '../../../src/index.ts'
import { type TokenClaims, tokenSessions } from '../../../src/jwt.ts'
import { createTextsFor } from '../../../src/texts/texts-for.ts'
import { type CliWorld, startCliWorld } from '../../support/cli.ts'

const sign = (claims: TokenClaims) => claims

async function loginOf(limiter: Sessmgr, userId: string | number) {
  const tokens = tokenSessions(limiter, { graceMs: 0 })
  const client = { ip: '192.0.2.1', userAgent: 'Mozilla/5.0 (Windows NT 10.0) Chrome/142.0' }
  const admission = await tokens.login({ userId, ...client }, sign)
  if (!admission.admitted) throw new Error(admission.message)
  return { tokens, claims: { ...admission.tokens, sub: userId }, token: tokenOf(admission.tokens.sid) }
}

describe('token sessions on the command line', () => {
  let world: CliWorld
  beforeAll(async () => {
    world = await startCliWorld()
  })
  afterAll(() => world.close())

  it('are listed beside those of browsers, and end by an administrator', async () => {
    await world.host.signedIn('alice')
    const { tokens, claims, token } = await loginOf(world.host.limiter, 2)
    const { out } = await world.run('sessions', 'list', 'alice', '--format', 'ids')
    expect(out.trim().split(' ')).toHaveLength(2)
    expect(out).toContain(token)
    expect(out).not.toContain(claims.sid)
    expect((await world.run('sessions', 'destroy', 'alice', '--token', token, '--yes')).code).toBe(0)
    expect(await tokens.check(claims)).toMatchObject({ ended: { cause: { kind: 'admin' } } })
  })
})

describe('a token that is used again', () => {
  it('is in the activity log, and its user leaves the people who are signed in', async () => {
    const store = memoryStore()
    const sink = memorySink()
    const limiter = sessmgr({ store, directory: true, audit: { sink } })
    onTestFinished(() => limiter.close())
    const { tokens, claims, token } = await loginOf(limiter, 'ada')
    const people = async () =>
      (await store.people.page({ sort: 'recent', limit: 9 })).people.map(({ userId }) => userId)
    await vi.waitFor(async () => expect(await people()).toEqual(['ada']))
    await tokens.refresh(claims, sign)
    await tokens.refresh(claims, sign)
    await vi.waitFor(async () => expect(await people()).toEqual([]))
    await vi.waitFor(async () => {
      const { events = [] } = (await sink.read?.({ limit: 9 })) ?? {}
      expect(events.map(({ type, kind, initiator, session }) => [type, kind, initiator, session])).toEqual([
        ['session.ended', 'reused', 'system', token],
        ['session.started', undefined, 'user', token],
      ])
    })
  })

  it('is put in words for its user, with the advice to change the password', async () => {
    const limiter = sessmgr()
    onTestFinished(() => limiter.close())
    const { tokens, claims } = await loginOf(limiter, 'ada')
    await tokens.refresh(claims, sign)
    const refreshed = await tokens.refresh(claims, sign)
    const request = { headers: {} } as IncomingMessage
    expect((await tokens.check(claims, request)).ended).toMatchObject({ cause: { kind: 'reused' } })
    const ended = refreshed.live ? { reason: 'missing' as const } : refreshed.ended
    const texts = createTextsFor({}, console)()
    const { title, text, advice } = wordNotice(ended, texts, undefined, Date.now() + 60_000)
    expect([title, text, advice]).toEqual([
      'You were signed out on this device.',
      expect.stringMatching(/ago, an old token of this account was used again, so it may have been stolen\.$/),
      'If that was not you, change your password now.',
    ])
  })
})
