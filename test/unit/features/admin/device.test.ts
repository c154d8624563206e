import { expect, test } from 'vitest'
import { deviceOf } from '../../../../src/browser/admin/sessions/device.ts'
import { TEXTS } from '../../../../src/browser/admin/texts/texts.ts'

const t: Parameters<typeof deviceOf>[1] = (key, values = {}) =>
  TEXTS[key].replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
const iOS = (device: string) =>
  `Mozilla/5.0 (${device}; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1`

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox 128 on Linux', 'Computer'],
  [iOS('iPhone'), 'Safari 17 on iOS', 'Phone'],
  [iOS('iPad'), 'Safari 17 on iPad', 'Tablet'],
  ['Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/538.1 (KHTML) Version/6.0 TV Safari/538.1', 'Tizen 6', 'TV'],
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'Googlebot 2', 'Program'],
  ['backup-script/1.0', 'backup-script 1', 'Program'],
  ['MyCompanyApp/5 (inventory)', 'MyCompanyApp 5', 'Program'],
  ['curl/8.1', 'curl 8', 'Program'],
  ['Mozilla/5.0', 'Unknown device', 'Unknown type of device'],
  ['Mozilla/5.0 (Some thing) Else', 'Unknown device', 'Unknown type of device'],
  ['x'.repeat(90), 'Unknown device', 'Unknown type of device'],
  ['()(*&'.repeat(20), 'Unknown device', 'Unknown type of device'],
  [null, 'Unknown device', 'Unknown type of device'],
])('the screen names the device of %j %s', (userAgent, name, kind) => {
  expect(deviceOf(userAgent, t)).toMatchObject({ name, kind })
})
