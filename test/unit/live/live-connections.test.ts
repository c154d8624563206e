import { expect, it, onTestFinished, vi } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import { Sweep } from '../../../src/live/live-connections.ts'
import { type LiveSessions, TrackedSession } from '../../../src/live/live-sessions.ts'

it('sweeps once a second while messages are missed again and again', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const session = new TrackedSession(7, tokenOf('a'))
  session.connections.add({ close() {} })
  let checks = 0
  const check = async () => void checks++
  const sweep = new Sweep({ all: () => [session], check } as unknown as LiveSessions, 3_600_000)
  onTestFinished(() => sweep.stop())
  for (let times = 0; times < 1000; times++) {
    sweep.missed()
    vi.advanceTimersByTime(10)
  }
  expect(checks).toBeGreaterThanOrEqual(9)
  expect(checks).toBeLessThanOrEqual(11)
})
