import { expect } from 'vitest'
import { FAULT_DEADLINE_MS, type FaultRun } from './fault-run.ts'
import type { CallTimes } from './measure-calls.ts'

/** How long a session lives whose login was cut off before it was answered. */
const UNCONFIRMED_MS = 120_000

/** What must hold for a run with faults, whatever went wrong. */
export function expectSound(
  { settings, statuses, mostAtOnce, admitted, live, cutOff, ...run }: FaultRun,
  calls: CallTimes,
) {
  const { maximum, logic } = settings
  expect(mostAtOnce).toBeLessThanOrEqual(maximum)
  expect(live).toBeLessThanOrEqual(maximum)
  // Nothing ends in this mode, so a slot that was given away twice shows.
  if (logic === 'block') expect(admitted + cutOff.length).toBeLessThanOrEqual(maximum)
  for (const { lastsMs } of cutOff) expect(lastsMs).toBeLessThanOrEqual(UNCONFIRMED_MS)
  // 0: express-session reports a session that cannot be saved when the answer is on its way, and Express breaks that off.
  const expected = [0, 200, 204, 401, 403, 503]
  expect(Object.keys(statuses).filter((status) => !expected.includes(Number(status)))).toEqual([])
  expect(calls.calls).toBeGreaterThan(10)
  expect(calls.slowestMs - calls.stallMs).toBeLessThanOrEqual(FAULT_DEADLINE_MS + 1000)
  expect(run.slowestRequestMs).toBeLessThan(200 * FAULT_DEADLINE_MS)
}
