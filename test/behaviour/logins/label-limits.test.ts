import { expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'

const ALICE = 2
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

test('one computer and one phone stay signed in, and another phone ends only the phone', async () => {
  const settings = { maximum: 3, logic: 'logout_oldest' }
  const host = await startExpressHost({ sessmgr: { settings, limits: { desktop: 1, mobile: 1 } } })
  const signIn = async (agent: string) => {
    const browser = host.browser()
    await browser.login('alice', { 'user-agent': agent })
    return browser
  }
  const [computer, phone, script] = [await signIn(CHROME), await signIn(IPHONE), await signIn('curl/8.5.0')]
  expect([await computer.me(), await phone.me(), await script.me()]).toEqual([200, 200, 200])
  expect(await host.limiter.explain(ALICE, { userAgent: IPHONE })).toMatchObject({ nextLogin: 'ends', label: 'mobile' })
  const next = await signIn(IPHONE)
  expect([await computer.me(), await phone.me(), await script.me(), await next.me()]).toEqual([200, 401, 200, 200])
})
