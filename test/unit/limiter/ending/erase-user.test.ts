import { describe, expect, it } from 'vitest'
import type { OtherTraces } from '../../../../src/limiter/ending/erase-user.ts'
import type { ActivityLog } from '../../../../src/limiter/events.ts'
import { createLimiterWorld } from '../../../support/limiter-world.ts'

/** What other parts of a service hold about a user: two passwords, and events. */
function traces(events: number | null = 3) {
  const calls: string[] = []
  const others: OtherTraces = {
    recordedNames: async () => ['alias'],
    forgetEvents: async () => events,
    forgetPasswords: async () => 2,
    forgetInMemory: (userId) => void calls.push(`memory ${userId}`),
  }
  return { others, calls }
}

function startNoting() {
  const noted: (readonly unknown[])[] = []
  const log: ActivityLog = { note: (...activity) => void noted.push(activity), recorded: undefined }
  const world = createLimiterWorld({ settings: { maximum: 3 }, log })
  return { ...world, erasures: () => noted.filter(([type]) => type === 'user.erased') }
}

describe('an erasure', () => {
  it('returns how much there was, and ends the sessions', async () => {
    const { login, limiter, fired, live, clock } = startNoting()
    await login(7)
    await login(7)
    await login(8)
    const { others, calls } = traces()
    expect(await limiter.erase(others, 7)).toEqual({ sessions: 2, passwords: 2, events: 6 })
    expect([calls, await live(7), (await live(8)).length]).toEqual([['memory 7'], [], 1])
    expect(fired.filter(([name]) => name === 'sessmgr_user_erased')).toEqual([['sessmgr_user_erased', 7]])
    clock.advance(4000)
    await expect(login(7)).resolves.toBeDefined()
  })

  it('reports null if the sink cannot delete the events of a user', async () => {
    const { limiter } = startNoting()
    expect(await limiter.erase(traces(null).others, 7)).toMatchObject({ sessions: 0, events: null })
  })

  it.each([
    ['the application', undefined, {}],
    ['an administrator', { by: 'admin', actor: 1 }, { by: 'admin', actor: 1 }],
    ['the user, whose id is not kept', { by: 'user', actor: 7 }, {}],
  ] as const)('by %s is noted without the user', async (_, whom, noted) => {
    const { login, limiter, erasures } = startNoting()
    await login(7)
    await limiter.erase(traces().others, 7, whom)
    expect(erasures()).toEqual([['user.erased', { ...noted, sessions: 1 }]])
  })

  it('needs the id of a user', async () => {
    const { limiter } = startNoting()
    await expect(limiter.erase(traces().others, { id: 7 } as never)).rejects.toMatchObject({ code: 'user_id_missing' })
  })
})
