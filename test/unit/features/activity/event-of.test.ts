import { expect, it } from 'vitest'
import { eventPolicy } from '../../../../src/features/activity/event-of.ts'

const logger = (lines: string[]) => ({ warn: (line: string) => void lines.push(line), error() {} })

it.each([
  ['203.0.113.77', '203.0.113.0'],
  ['::ffff:203.0.113.77', '203.0.113.0'],
  ['2001:db8:12:34::1', '2001:db8:12::'],
  ['2001:db8::1', '2001:db8:0::'],
  ['::1', '0:0:0::'],
  ['fe80::1%eth0', 'fe80:0:0::'],
  ['2001:0DB8:0012:0034:0056:0078:0090:00ab', '2001:db8:12::'],
  ['64:ff9b::203.0.113.77', '64:ff9b:0::'],
  ['unknown', undefined],
  ['<script>', undefined],
  [undefined, undefined],
])('truncates %s to %s', (address, network) => {
  const { address: record } = eventPolicy({ ip: 'truncated', identify: 'id' }, logger([]))
  expect(record(address)).toBe(network)
})

it('records no address at all, or all of it', () => {
  const record = (ip: 'none' | 'full') => eventPolicy({ ip, identify: 'id' }, logger([])).address('203.0.113.77')
  expect([record('none'), record('full')]).toEqual([undefined, '203.0.113.77'])
})

it.each([
  () => {
    throw new Error('no key')
  },
  () => 7 as never,
])('records no user if identify fails, and warns once', (identify) => {
  const lines: string[] = []
  const policy = eventPolicy({ ip: 'full', identify }, logger(lines))
  expect([policy.identify(1), policy.identify(2)]).toEqual([undefined, undefined])
  expect(lines).toHaveLength(1)
})
