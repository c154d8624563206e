import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { ExampleApp } from '../../support/example-app.ts'

const ALICE = 2
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:148.0) Gecko/20100101 Firefox/148.0'

let example: ExampleApp
beforeAll(async () => {
  example = await ExampleApp.start({ SESSMGR_LOGIC: 'ask', SESSMGR_MAXIMUM: '2', SESSMGR_IDLE_RELEASE: '3600' })
})
afterAll(() => example.stop())

let [laptop, tablet]: Browser[] = []
beforeEach(async () => {
  await example.limiter.sessions.endAll(ALICE)
  laptop = example.browser()
  await example.login(laptop, 'alice', {}, { 'user-agent': FIREFOX })
  tablet = await example.signedIn('alice')
})

/** What the form of the page sends for the device of this name. */
function chosen(page: string, device: string): Record<string, string> {
  const [, proof = ''] = /name="proof" value="([^"]+)"/.exec(page) ?? []
  const row = page.split('<label').find((part) => part.includes(device)) ?? ''
  return { proof, end: /name="end" value="([^"]+)"/.exec(row)?.[1] ?? '' }
}

test('SESSMGR_LOGIC=ask: the user chooses a device, and goes on to the page that they came for', async () => {
  const phone = example.browser()
  const answer = await example.login(phone, 'alice', { redirect_to: '/posts/6', remember: '1' })
  expect([answer.status, answer.location]).toEqual([303, '/login/choose'])
  expect([await phone.me(), await laptop?.me(), await tablet?.me()]).toEqual([401, 200, 200])
  const page = (await phone.get('/login/choose')).text
  const done = await phone.post('/login/choose', chosen(page, 'Firefox on Windows'))
  expect([done.status, done.location]).toEqual([303, '/posts/6'])
  expect([await phone.me(), await laptop?.me(), await tablet?.me()]).toEqual([200, 401, 200])
  const expires = done.setCookies.find((cookie) => cookie.startsWith('connect.sid='))?.match(/Expires=([^;]+)/)?.[1]
  expect(new Date(expires ?? '').getTime() - Date.now()).toBeGreaterThan(13 * 24 * 60 * 60_000)
  expect((await phone.get('/login/choose')).location).toBe('/')
  const late = (await example.browser().get('/login?choice=expired')).text
  expect(late).toContain('That took too long. Please sign in again.')
})

test('a script gets the devices, and chooses by JSON', async () => {
  const phone = example.browser()
  const asked = await example.login(phone, 'alice', {}, { accept: 'application/json' })
  expect([asked.status, asked.json().code]).toEqual([409, 'login_choice_required'])
  type Sessions = readonly { readonly device: string | null; readonly token: string }[]
  const { data } = asked.json<{ data: { choice: { url: string; need: number; sessions: Sessions } } }>()
  const { url, need, sessions } = data.choice
  expect([need, sessions.map(({ device }) => device)]).toEqual([1, [null, 'Firefox on Windows']])
  const answer = await phone.request('POST', url, { json: { end: [sessions[1]?.token] } })
  expect([answer.status, answer.json()]).toEqual([200, { signed_in: true, ended: 1 }])
  expect([await laptop?.me(), await tablet?.me()]).toEqual([401, 200])
})

test('SESSMGR_IDLE_RELEASE is the setting idle_release', async () => {
  expect(await example.limiter.settings.get()).toMatchObject({ logic: 'ask', idle_release: 3600 })
})
