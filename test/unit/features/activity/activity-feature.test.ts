import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type AuditEvent, memorySink } from '../../../../src/audit.ts'
import { Erasures } from '../../../../src/auth/erasures.ts'
import { createActivity } from '../../../../src/features/activity/activity-feature.ts'
import { Recorder } from '../../../../src/features/activity/recorder.ts'
import { resolveAuditOptions } from '../../../../src/features/activity/resolve-audit-options.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'

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

it('rule 77: writes no event of a command from before an erasure, although another process reports it later', async () => {
  const store = memoryStore()
  const erasures = new Erasures(store)
  const sink = memorySink()
  const parts = { audit: resolveAuditOptions({ sink }), deadlineMs: 1000, logger: { warn() {}, error() {} }, erasures }
  const { log, recorder, close } = createActivity(parts, async (late) => new Recorder(late))
  const refuse = async (userId: string) => {
    log.note(
      'login.refused',
      { userId, ip: '192.0.2.1', userAgent: null },
      { mode: 'block', maximum: 1, live: 1, asked: false },
    )
    await recorder()
  }
  await refuse('ann')
  await erasures.mark(['ann'], Date.now())
  await sleep(20)
  for (const userId of ['ann', 'ann', 'bob']) await refuse(userId)
  const { events = [] } = (await sink.read?.({ limit: 10 })) ?? {}
  expect(events.map(({ user }) => user)).toEqual(['bob'])
  await close()
})
