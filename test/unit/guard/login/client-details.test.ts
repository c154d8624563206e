import { expect, test } from 'vitest'
import { clientDetails } from '../../../../src/guard/login/client-details.ts'

test('what a client says of itself is kept, and null stands for what it does not say', () => {
  expect(clientDetails('192.0.2.1', 'curl/8')).toEqual({ ip: '192.0.2.1', userAgent: 'curl/8' })
  expect(clientDetails(undefined, null)).toEqual({ ip: null, userAgent: null })
  expect(clientDetails(null, undefined)).toEqual({ ip: null, userAgent: null })
})

test('an address is cut to 64 characters, a user agent to 512', () => {
  const { ip, userAgent } = clientDetails(`${'1'.repeat(64)}2`, `${'a'.repeat(512)}b`)
  expect([ip, userAgent]).toEqual(['1'.repeat(64), 'a'.repeat(512)])
})
