import { expect, test } from 'vitest'
import { exactDevice } from '../../../src/sessions/exact-device.ts'

const iOS = (device: string) =>
  `Mozilla/5.0 (${device}; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1`

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox 128 on Linux', 'computer'],
  [iOS('iPhone'), 'Safari 17 on iPhone', 'phone'],
  [iOS('iPad'), 'Safari 17 on iPad', 'tablet'],
  ['Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/538.1 (KHTML) Version/6.0 TV Safari/538.1', 'Tizen 6', 'tv'],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'Googlebot 2', 'program'],
  ['backup-script/1.0', 'backup-script 1', 'program'],
  ['MyCompanyApp/5 (inventory)', 'MyCompanyApp 5', 'program'],
  ['curl/8.1', 'curl 8', 'program'],
  ['Mozilla/5.0', null, 'unknown'],
  ['Mozilla/5.0 (Some thing) Else', null, 'unknown'],
  ['x'.repeat(90), null, 'program'],
  ['()(*&'.repeat(20), null, 'program'],
  ['<script>alert(1)</script>', null, 'program'],
  [null, null, 'unknown'],
])('administrators see %j as %j, a %s', async (userAgent, name, kind) => {
  expect(await exactDevice(userAgent, '{browser} on {system}')).toEqual({ name, kind })
})
