import { expect, it } from 'vitest'
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

it('an erasure returns how much there was, ends the sessions, and lets the user begin anew', async () => {
  const { login, limiter, fired, live, clock } = startNoting()
  for (const user of [7, 7, 8]) await login(user)
  const { others, calls } = traces()
  expect(await limiter.erase(others, 7)).toEqual({ sessions: 2, passwords: 2, events: 6 })
  expect([calls, await live(7), (await live(8)).length]).toEqual([['memory 7'], [], 1])
  expect(fired.filter(([name]) => name === 'sessmgr_user_erased')).toEqual([['sessmgr_user_erased', 7]])
  clock.advance(4000)
  const sessionId = (await login(7)) as string
  const adopt = (id: string) =>
    limiter.adopt(7, { sessionId: id, ttlMs: 1000, ip: null, userAgent: null, device: null })
  expect([await adopt(sessionId), await adopt('from before')]).toMatchObject([{ live: true }, { live: false }])
  expect(await limiter.erase(traces(null).others, 9)).toMatchObject({ sessions: 0, events: null })
  await expect(limiter.erase(others, { id: 7 } as never)).rejects.toMatchObject({ code: 'user_id_missing' })
})

it('an erasure is recorded with the administrator, or whoever else did it, and never with the erased user', async () => {
  const { limiter, erasures } = startNoting()
  for (const [whom, recorded] of [
    [undefined, {}],
    [
      { by: 'admin', actor: 1 },
      { by: 'admin', actor: 1 },
    ],
    [{ by: 'admin', actor: '9' }, { by: 'admin' }],
    [{ by: 'user', actor: 9 }, {}],
    [{ by: 'app', actor: 3 }, { actor: 3 }],
  ] as const) {
    await limiter.erase(traces().others, 9, whom)
    expect(erasures().at(-1)).toStrictEqual(['user.erased', { ...recorded, sessions: 0 }])
  }
})
