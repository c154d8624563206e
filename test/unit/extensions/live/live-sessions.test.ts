import { expect, it, onTestFinished, vi } from 'vitest'
import {
  ConnectionTable,
  type LiveSessions,
  Sweep,
  TrackedSession,
} from '../../../../src/extensions/live/live-sessions.ts'
import { tokenOf } from '../../../../src/index.ts'

const connection = () => ({ close() {} })

it('keeps the connections of one session together, and those of users who share a token apart', () => {
  const table = new ConnectionTable()
  const first = connection()
  const session = table.add(7, 'token', first)
  expect(table.add('7', 'token', connection())).toBe(session)
  const other = table.add(8, 'token', connection())
  expect(other).not.toBe(session)
  expect(table.of('token')).toEqual([session, other])
  expect(table.size).toBe(3)
})

it('forgets a session with its last connection, and counts each connection once', () => {
  const table = new ConnectionTable()
  const [first, second] = [connection(), connection()]
  const session = table.add(7, 'token', first)
  const other = table.add(8, 'token', second)
  expect(table.delete(session, first)).toBe(true)
  expect(table.delete(session, first)).toBe(false)
  expect(table.of('token')).toEqual([other])
  expect(table.delete(other, second)).toBe(true)
  expect([table.size, table.all(), table.of('token')]).toEqual([0, [], []])
})

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
