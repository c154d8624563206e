import { expect, it } from 'vitest'
import type { Host } from '../../../src/index.ts'
import { createHostDetails } from '../../../src/routes/resources/host-details.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'

function start(parts: Partial<Host>) {
  const warnings: unknown[][] = []
  const logger = { warn: (...line: unknown[]) => void warnings.push(line), error() {} }
  return { details: createHostDetails({ ...restHostOf(createRestUsers()), ...parts } as Host, logger, 20), warnings }
}
const hangs = () => new Promise<never>(() => {})

it('a user by their id is unknown, with one warning, when the application throws, hangs or says null', async () => {
  const { details, warnings } = start({})
  expect([await details.userBy(async () => 'alice'), await details.userBy(() => null)]).toEqual(['alice', undefined])
  expect(warnings).toEqual([])
  expect(await Promise.all([details.userBy(hangs), details.userBy(hangs)])).toEqual([undefined, undefined])
  expect(await details.userBy(() => Promise.reject(new Error('no table')))).toBe(undefined)
  const reason = { error: 'no answer within 20 ms' }
  expect(warnings).toEqual([[expect.stringContaining('host.users.findById() failed'), reason]])
})

it('the place of an address is left out, with one warning and the reason, when the application fails', async () => {
  const nonsense = 'expected a string such as "Berlin, DE", got 7'
  for (const [location, error] of [
    [() => Promise.reject(new Error('no table')), 'no table'],
    [hangs, 'no answer within 20 ms'],
    [() => 7 as never, nonsense],
  ] as const) {
    const { details, warnings } = start({ location })
    expect(await details.placesOf(['203.0.113.1'])).toEqual([null])
    expect(await details.placesOf(['203.0.113.2', '203.0.113.3'])).toEqual([null, null])
    expect(warnings).toEqual([[expect.stringContaining('host.location() failed'), { error }]])
  }
})

it('the place of an address is unknown when the application says so or has no function, and 100 characters at most', async () => {
  const answers = [undefined, null, '  ', 'x'.repeat(200)]
  const { details, warnings } = start({ location: () => answers.shift() })
  const ips = [1, 2, 3, 4].map((last) => `203.0.113.${last}`)
  expect(await details.placesOf(ips)).toEqual([null, null, null, 'x'.repeat(100)])
  expect(warnings).toEqual([])
  expect(await start({}).details.placesOf(['203.0.113.1', null])).toEqual([null, null])
})
