import { expect, test } from 'vitest'
import { loginAddress } from '../../../src/routes/page-addresses.ts'

test.each([
  ['/login', '/login?redirect_to=%2Faccount%3Fpage%3D2'],
  ['/login?x=1', '/login?x=1&redirect_to=%2Faccount%3Fpage%3D2'],
  ['https://idp.example/login?x=1#form', 'https://idp.example/login?x=1&redirect_to=%2Faccount%3Fpage%3D2#form'],
])('the page to return to is added before the fragment of %s', (loginUrl, address) => {
  expect(loginAddress(loginUrl, '/account?page=2')).toBe(address)
})
