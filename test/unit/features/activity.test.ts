import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type AuditEvent, type AuditOptions, memorySink } from '../../../src/audit.ts'
import { Erasures } from '../../../src/auth/erasures.ts'
import { createActivity } from '../../../src/features/activity/activity-feature.ts'
import { eventPolicy } from '../../../src/features/activity/event-of.ts'
import { Recorder } from '../../../src/features/activity/recorder.ts'
import { resolveAuditOptions } from '../../../src/features/activity/resolve-audit-options.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'

function activityOf(options: AuditOptions, more: { erasures?: Erasures } = {}) {
  const lines: string[] = []
  const logger = { warn: (line: string) => void lines.push(line), error() {} }
  const parts = { audit: resolveAuditOptions(options), deadlineMs: 1000, logger, ...more }
  return { lines, ...createActivity(parts, async (late) => new Recorder(late)) }
}

it('counts the events that were lost before they reached the recorder: what fits is written', async () => {
  const written: AuditEvent[] = []
  const { log, close, lines } = activityOf({ sink: { write: async (batch) => void written.push(...batch) } })
  for (let epoch = 1; epoch <= 10_005; epoch++) log.note('logout.all', epoch, { kind: 'logout_all', at: epoch })
  await close()
  expect(lines).toEqual([expect.stringMatching(/^5 events were lost\. Too many came at once/)])
  expect([written.length, written[0]?.details]).toEqual([10_000, { epoch: 6 }])
})

it('rule 77: writes no event of a command from before an erasure, although another process reports it later', async () => {
  const erasures = new Erasures(memoryStore())
  const sink = memorySink()
  const { log, recorder, close } = activityOf({ sink }, { erasures })
  const refuse = async (userId: string) => {
    const client = { userId, ip: '192.0.2.1', userAgent: null }
    log.note('login.refused', client, { mode: 'block', maximum: 1, live: 1, asked: false })
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

it('records an address as its network, as nothing, or as a whole', () => {
  const logger = { warn() {}, error() {} }
  const record = (ip: 'none' | 'truncated' | 'full') => eventPolicy({ ip, identify: 'id' }, logger).address
  for (const [address, network] of [
    ['203.0.113.77', '203.0.113.0'],
    ['::ffff:203.0.113.77', '203.0.113.0'],
    ['2001:db8:12:34::1', '2001:db8:12::'],
    ['::1', '0:0:0::'],
    ['fe80::1%eth0', 'fe80:0:0::'],
    ['unknown', undefined],
    [undefined, undefined],
  ] as const) {
    expect(record('truncated')(address), address).toBe(network)
  }
  expect([record('none')('203.0.113.77'), record('full')('203.0.113.77')]).toEqual([undefined, '203.0.113.77'])
})

it('records no user if identify fails, and warns once', () => {
  for (const identify of [() => expect.unreachable(), () => 7 as never]) {
    const lines: string[] = []
    const policy = eventPolicy({ ip: 'full', identify }, { warn: (line: string) => void lines.push(line), error() {} })
    expect([policy.identify(1), policy.identify(2), lines.length]).toEqual([undefined, undefined, 1])
  }
})
