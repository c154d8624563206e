import { expect, it } from 'vitest'
import type { AuditEvent } from '../../../../src/audit.ts'
import { createActivity } from '../../../../src/features/activity/activity-feature.ts'
import { Recorder } from '../../../../src/features/activity/recorder.ts'
import { resolveAuditOptions } from '../../../../src/features/activity/resolve-audit-options.ts'

it('counts the events that were lost before they reached the recorder', async () => {
  const written: AuditEvent[] = []
  const lines: string[] = []
  const audit = resolveAuditOptions({ sink: { write: async (events) => void written.push(...events) } })
  const logger = { warn: (line: string) => void lines.push(line), error() {} }
  const { log, close } = createActivity({ audit, deadlineMs: 1000, logger }, async (parts) => new Recorder(parts))
  for (let epoch = 1; epoch <= 10_005; epoch++) log.note('logout.all', epoch, { kind: 'logout_all', at: epoch })
  await close()
  expect(written.length).toBe(10_000)
  expect(written[0]?.details).toEqual({ epoch: 6 })
  expect(lines).toEqual([expect.stringMatching(/^5 events were lost\. Too many came at once/)])
})

it.each([
  ['rejects', () => Promise.reject(new Error('The disk is full'))],
  ['hangs', () => new Promise<void>(() => {})],
])('counts the events that are given up because the sink %s until the end', async (_, write) => {
  const lines: string[] = []
  const logger = { warn: (line: string) => void lines.push(line), error() {} }
  const audit = resolveAuditOptions({ sink: { write } })
  const { log, close } = createActivity({ audit, deadlineMs: 20, logger }, async (parts) => new Recorder(parts))
  for (let epoch = 1; epoch <= 10_003; epoch++) log.note('logout.all', epoch, { kind: 'logout_all', at: epoch })
  await close()
  expect(lines.map((line) => line.slice(0, 20))).toEqual(['The activity could n', '10003 events were lo'])
})
