import { expect, test } from 'vitest'
import { deviceName } from '../../../src/sessions/device-name.ts'

const WINDOWS =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36'
const iOS = (device: string) =>
  `Mozilla/5.0 (${device}; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1`

test.each([
  [WINDOWS, 'Chrome on Windows', 'computer'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox on Linux', 'computer'],
  [iOS('iPhone'), 'Safari on iPhone', 'phone'],
  [iOS('iPad'), 'Safari on iPad', 'tablet'],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'Googlebot', 'program'],
  ['curl/8.1', null, 'program'],
  ['Mozilla/5.0', null, null],
  [null, null, null],
])('describes %j as %j', async (userAgent, name, kind) => {
  expect(await deviceName(userAgent)).toEqual({ name, kind })
})

test('nothing of the user agent itself is returned', async () => {
  for (const odd of ['Evil<script>/1.0 (x)', 'Mozilla/5.0 (My secret OS 9; Secret9,1) Secret/7', '('.repeat(9000)]) {
    const { name } = await deviceName(odd)
    expect(name).toBeNull()
  }
})

test('the pattern of another language names browser and system', async () => {
  expect(await deviceName(WINDOWS, '{system}: {browser}')).toHaveProperty('name', 'Windows: Chrome')
})
