import { expect } from 'vitest'
import { FAULT_DEADLINE_MS, type FaultRun } from './fault-run.ts'
import type { CallTimes } from './measure-calls.ts'

/** Checks what must be true of a run with faults, whatever has failed. */
export function expectSound(
  { settings, statuses, mostAtOnce, admitted, live, cutOff, ...run }: FaultRun,
  calls: CallTimes,
) {
  const { maximum, logic } = settings
  expect(mostAtOnce).toBeLessThanOrEqual(maximum)
  expect(live).toBeLessThanOrEqual(maximum)
  // Nothing ends in this mode, so a slot that was taken twice is visible.
  if (logic === 'block') expect(admitted + cutOff.length).toBeLessThanOrEqual(maximum)
  // The next login of the same browser gets the slot of a session that nobody has.
  expect(cutOff.filter(({ takenUp }) => takenUp)).toEqual([])
  // 0: express-session reports a failed save after the response has begun, and Express aborts the response.
  const expected = [0, 200, 204, 401, 403, 503]
  expect(Object.keys(statuses).filter((status) => !expected.includes(Number(status)))).toEqual([])
  expect(calls.calls).toBeGreaterThan(10)
  expect(calls.slowestMs - calls.stallMs).toBeLessThanOrEqual(FAULT_DEADLINE_MS + 1000)
  expect(run.slowestRequestMs).toBeLessThan(200 * FAULT_DEADLINE_MS)
}
