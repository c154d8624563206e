import { describe, expect, test } from 'vitest'
import type { HostRequest } from '../../../src/door/host-types.ts'
import { guestLoginAddress, loginAddress } from '../../../src/routes/page-addresses.ts'

test.each([
  ['/login', '/login?redirect_to=%2Faccount%3Fpage%3D2'],
  ['/login?x=1', '/login?x=1&redirect_to=%2Faccount%3Fpage%3D2'],
  ['https://idp.example/login?x=1#form', 'https://idp.example/login?x=1&redirect_to=%2Faccount%3Fpage%3D2#form'],
])('the page to return to is added before the fragment of %s', (loginUrl, address) => {
  expect(loginAddress(loginUrl, '/account?page=2')).toBe(address)
})

describe('decision 86: the address of the login page', () => {
  const addressFor = (page: string) => guestLoginAddress({ headers: {} } as HostRequest, '/login', page)

  test.each(['/devices', '/admin/sessions?user=alice&page=2', '/a%20b?next=//evil.example', '/'])(
    'carries %s, a path of this site',
    (page) => {
      expect(addressFor(page)).toBe(`/login?redirect_to=${encodeURIComponent(page)}`)
    },
  )

  test.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\u0000/evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    '/devices\\..\\..\\\\evil.example',
    'https://evil.example/devices',
    'javascript:alert(1)',
    'devices',
    '',
    '/\u2028',
  ])('carries nothing in place of %j', (page) => {
    expect(addressFor(page)).toBe('/login')
  })
})
