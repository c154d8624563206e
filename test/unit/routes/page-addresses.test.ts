import { expect, it } from 'vitest'
import type { HostRequest } from '../../../src/door/host-types.ts'
import { guestLoginAddress, loginAddress } from '../../../src/routes/page-addresses.ts'

it('the page to return to is added to the address of a login page, before its fragment', () => {
  for (const [loginUrl, address] of [
    ['/login', '/login?redirect_to=%2Faccount%3Fpage%3D2'],
    ['/login?x=1', '/login?x=1&redirect_to=%2Faccount%3Fpage%3D2'],
    ['https://idp.example/login?x=1#form', 'https://idp.example/login?x=1&redirect_to=%2Faccount%3Fpage%3D2#form'],
  ] as const) {
    expect(loginAddress(loginUrl, '/account?page=2')).toBe(address)
  }
})

it('decision 86: the address of the login page carries a path of this site, and nothing in place of another', () => {
  const addressFor = (page: string) => guestLoginAddress({ headers: {} } as HostRequest, '/login', page)
  for (const page of ['/devices', '/admin/sessions?user=alice&page=2', '/a%20b?next=//evil.example', '/']) {
    expect(addressFor(page)).toBe(`/login?redirect_to=${encodeURIComponent(page)}`)
  }
  for (const page of [
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/a/..//evil.example',
    '/devices\\..\\..\\\\evil.example',
    'https://evil.example/devices',
    'javascript:alert(1)',
    '',
    '/\u2028',
  ]) {
    expect(addressFor(page), JSON.stringify(page)).toBe('/login')
  }
})
