import { describe, expect, it } from 'vitest'
import type { Host } from '../../../../src/index.ts'
import { createHostDetails } from '../../../../src/routes/resources/host-details.ts'
import { createRestUsers, restHostOf } from '../../../support/rest-users.ts'

function start(parts: Partial<Host>) {
  const warnings: unknown[][] = []
  const logger = { warn: (...line: unknown[]) => void warnings.push(line), error() {} }
  return { details: createHostDetails({ ...restHostOf(createRestUsers()), ...parts } as Host, logger, 20), warnings }
}

describe('a user by their id', () => {
  it('is unknown, with one warning, when the application throws or hangs', async () => {
    const { details, warnings } = start({})
    const hangs = () => new Promise(() => {})
    expect(await Promise.all([details.userBy(hangs), details.userBy(hangs)])).toEqual([undefined, undefined])
    expect(await details.userBy(() => Promise.reject(new Error('no table')))).toBe(undefined)
    expect(warnings).toEqual([
      [expect.stringContaining('host.users.findById() failed'), { error: 'no answer within 20 ms' }],
    ])
  })

  it('is what the application returns, and unknown if that is null', async () => {
    const { details, warnings } = start({})
    expect(await details.userBy(async () => 'alice')).toBe('alice')
    expect(await details.userBy(() => null)).toBe(undefined)
    expect(warnings).toEqual([])
  })
})

describe('the place of an address', () => {
  it('is unknown without host.location', async () => {
    expect(await start({}).details.placesOf(['203.0.113.1', null])).toEqual([null, null])
  })

  it('is left out with one warning when the application throws, hangs or answers nonsense', async () => {
    const answers = [() => Promise.reject(new Error('no table')), () => new Promise(() => {}), () => ({ city: 'Bonn' })]
    const { details, warnings } = start({ location: () => answers.shift()?.() as Promise<string> })
    expect(await details.placesOf(['203.0.113.1'])).toEqual([null])
    expect(await details.placesOf(['203.0.113.2', '203.0.113.3'])).toEqual([null, null])
    expect(answers).toEqual([])
    expect(warnings).toEqual([[expect.stringContaining('host.location() failed'), { error: 'no table' }]])
  })

  it.each([
    ['hangs', () => new Promise<string>(() => {}), 'no answer within 20 ms'],
    ['answers nonsense', () => 7 as never, 'expected a string such as "Berlin, DE", got 7'],
  ])('is warned of with the reason when the application %s', async (_, location, error) => {
    const { details, warnings } = start({ location })
    expect(await details.placesOf(['203.0.113.1'])).toEqual([null])
    expect(warnings).toEqual([[expect.any(String), { error }]])
  })

  it('is unknown when the application says so, and at most 100 characters long', async () => {
    const answers = [undefined, null, '  ', 'x'.repeat(200)]
    const { details, warnings } = start({ location: () => answers.shift() })
    const ips = ['203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4']
    expect(await details.placesOf(ips)).toEqual([null, null, null, 'x'.repeat(100)])
    expect(warnings).toEqual([])
  })
})
