import { expect, test } from 'vitest'
import { deviceName, exactDevice } from '../../../src/sessions/device.ts'

const iOS = (device: string) =>
  `Mozilla/5.0 (${device}; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1`

const EXACT = [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox 128 on Linux', 'computer'],
  [iOS('iPhone'), 'Safari 17 on iPhone', 'phone'],
  [iOS('iPad'), 'Safari 17 on iPad', 'tablet'],
  ['Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/538.1 (KHTML) Version/6.0 TV Safari/538.1', 'Tizen 6', 'tv'],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'Googlebot 2', 'program'],
  ['backup-script/1.0', 'backup-script 1', 'program'],
  ['MyApp/1.0 (iPhone; iOS 18.1; Scale/3.00)', 'MyApp 1 on iPhone', 'program'],
  ['MyApp/1.0 (Windows NT 10.0; Win64; x64) Chrome/142.0', 'MyApp 1 on Windows', 'program'],
  ['backup-script', 'backup-script', 'program'],
  ['MyCompanyApp/1234 (inventory)', 'MyCompanyApp 1234', 'program'],
  ['backup Mozilla/5.0', 'backup', 'program'],
  [`Mozilla/5.0 ${'x'.repeat(500)} Firefox/128.0`, null, 'unknown'],
  ['Mozilla/5.0', null, 'unknown'],
  ['Mozilla/5.0 (Some thing) Else', null, 'unknown'],
  ['x'.repeat(90), null, 'program'],
  ['()(*&'.repeat(20), null, 'program'],
  ['<script>alert(1)</script>', null, 'program'],
  [null, null, 'unknown'],
] as const

test('administrators see the browser with its version, the system and the kind of device', async () => {
  for (const [userAgent, name, kind] of EXACT) {
    expect(await exactDevice(userAgent, '{browser} on {system}'), `${userAgent}`).toEqual({ name, kind })
  }
})

test('users see no version, and no name that the user agent makes up', async () => {
  for (const [userAgent, name, kind] of [
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox on Linux', 'computer'],
    [iOS('iPhone'), 'Safari on iPhone', 'phone'],
    [iOS('iPad'), 'Safari on iPad', 'tablet'],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'Googlebot', 'program'],
    ['curl/8.1', null, 'program'],
    ['MyApp/1.0 (Android 14; Pixel 8)', 'Android', 'program'],
    ['Mozilla/5.0', null, null],
    [null, null, null],
  ] as const) {
    expect(await deviceName(userAgent), `${userAgent}`).toEqual({ name, kind })
  }
})

test('nothing of the user agent itself is returned', async () => {
  for (const odd of ['Evil<script>/1.0 (x)', 'Mozilla/5.0 (My secret OS 9; Secret9,1) Secret/7', '('.repeat(9000)]) {
    const { name } = await deviceName(odd)
    expect(name).toBeNull()
  }
})
