import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Arena, startArena } from '../support/arena.ts'
import { printFigures } from '../support/print-figures.ts'
import { holdRequests } from '../support/race-held-requests.ts'
import { raceStaleSessions } from '../support/race-stale-sessions.ts'

describe('ended sessions', () => {
  let arena: Arena
  beforeAll(async () => {
    arena = await startArena({ processes: 4, users: 2000 })
  })
  afterAll(() => arena.stop())

  it('are not brought back by 1,000 slow requests of another process', async () => {
    const held = await holdRequests(arena, { from: 1, trials: 1000 })
    printFigures('held requests', held)
    expect(held).toMatchObject({ revivedInGuard: 0, revivedInRedis: 0 })
    expect(held.underWay).toBeGreaterThan(400)
  })

  it('are not brought back by 500 slow requests when a site-wide logout has made them stale', async () => {
    const held = await holdRequests(arena, { from: 1001, trials: 500, everybody: true })
    printFigures('held requests, site-wide logout', held)
    expect(held).toMatchObject({ revivedInGuard: 0, revivedInRedis: 0 })
    expect(held.underWay).toBeGreaterThan(200)
  })

  it('rule 16: fire sessmgr_session_invalidated exactly once each for 4 x 50 parallel requests', async () => {
    const sessions = 100
    const stale = await raceStaleSessions(arena, { from: 1501, sessions, requestsEach: 50 })
    printFigures('stale sessions', stale)
    expect(stale).toEqual({ statuses: { 401: sessions * 200 }, fired: { 1: sessions }, strange: 0 })
  })
})
