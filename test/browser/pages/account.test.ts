import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { memoryStore, SessmgrError, type SessmgrOptions, type StepUpOptions } from '../../../src/index.ts'
import { startChromium } from '../../support/chromium.ts'
import { openExpressHost } from '../../support/express-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf } from '../../support/page-faults.ts'
import { AGENTS } from '../../support/user-agents.ts'

const { iphone: PHONE, linux: LINUX } = AGENTS
const ARABIC = {
  lang: 'ar',
  dir: 'rtl',
  account_title: 'أجهزتك',
  account_this: 'هذا الجهاز',
  account_others: 'أجهزة أخرى',
  account_end: 'تسجيل الخروج',
  account_used: 'آخر استخدام {ago} · تسجيل الدخول {date}',
}

const memory = memoryStore()
let isAway = false
const sessions = new Proxy(memory.sessions, {
  get(registry, name: keyof typeof memory.sessions) {
    if (isAway && name === 'read') throw new SessmgrError('store_unavailable', 'The store is away.')
    const part: unknown = registry[name]
    return typeof part === 'function' ? part.bind(registry) : part
  },
})
const sessmgr: SessmgrOptions = {
  store: { ...memory, sessions },
  settings: { maximum: 3, logic: 'logout_oldest' },
  site: { url: 'https://blog.example', title: 'The example blog' },
  texts: ({ headers }) => (String(headers['accept-language']).startsWith('ar') ? ARABIC : {}),
}
const show = { ip: true, location: () => 'Berlin' }

const chromium = forThisFile(() => startChromium())
const open = (stepUp?: StepUpOptions, options: SessmgrOptions = {}) =>
  forThisFile(() =>
    openExpressHost({ sessmgr: { ...sessmgr, ...options }, account: { show, stepUp, logoutUrl: '/logout' } }),
  )
const [plain, password, fresh, many] = [
  open(),
  open({ verify: (_, given) => given === 'secret' }, { store: memoryStore() }),
  open({ url: '/passkey' }, { store: memoryStore() }),
  open(undefined, { store: memoryStore(), settings: { maximum: 1000, logic: 'allow' } }),
]

/** Opens the page in a browser of somebody who is signed in on a phone and on Linux too. */
async function visitor(host: { origin: string }, options: BrowserContextOptions = {}, login = 'bob') {
  const context = await chromium.visitor({ reducedMotion: 'reduce', ...options })
  for (const userAgent of [PHONE, LINUX]) await signIn(host, login, userAgent)
  await context.request.post(`${host.origin}/login`, { form: { username: login, password: 'secret' } })
  return context
}

const signIn = ({ origin }: { origin: string }, username: string, agent: string) =>
  fetch(`${origin}/login`, {
    method: 'POST',
    headers: { 'user-agent': agent },
    body: new URLSearchParams({ username, password: 'secret' }),
  })

async function pageOf(context: BrowserContext, host: { origin: string }, query = ''): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${host.origin}/account/sessions${query}`)
  return page
}

const end = (page: Page) => page.getByRole('button', { name: /^Sign out Safari on iPhone/ }).click()

test('no page has anything that axe finds, at 320, 768 and 1280 px, light or dark, also from right to left', async () => {
  const page = await pageOf(await visitor(plain), plain)
  expect(await faultsOf(page, 'account-full')).toEqual([])
  await page.getByRole('link', { name: 'Sign out everywhere else…' }).click()
  expect(await faultsOf(page, 'account-confirm')).toEqual([])
  await page.getByRole('link', { name: 'Cancel' }).click()
  await end(page)
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent))
    .toMatch(/^Signed out on Safari on iPhone/)
  expect(await faultsOf(page, 'account-done')).toEqual([])
  isAway = true
  expect((await page.goto(`${plain.origin}/account/sessions`))?.status()).toBe(503)
  isAway = false
  expect(await faultsOf(page, 'account-away')).toEqual([])
  const asked = await pageOf(await visitor(password), password)
  await end(asked)
  await asked.getByLabel('Your password').fill('wrong')
  await asked.keyboard.press('Enter')
  await asked.getByText('That password is wrong.').waitFor()
  await expect.poll(() => asked.evaluate(() => document.activeElement?.id)).toBe('password')
  expect(await faultsOf(asked, 'account-password')).toEqual([])
  const again = await pageOf(await visitor(fresh), fresh)
  await end(again)
  expect(await faultsOf(again, 'account-again')).toEqual([])
  const arabic = await pageOf(await visitor(plain, { locale: 'ar' }), plain)
  expect(await arabic.evaluate(() => [document.documentElement.dir, document.title])).toEqual([
    'rtl',
    'أجهزتك – The example blog',
  ])
  expect(await faultsOf(arabic, 'account-rtl')).toEqual([])
})

test('without JavaScript, by keys alone, a user ends one session and then all others', async () => {
  const context = await visitor(password, { javaScriptEnabled: false }, 'alice')
  const page = await pageOf(context, password)
  const button = page.getByRole('button', { name: /^Sign out Safari on iPhone/ })
  await button.press('Enter')
  // The field has the focus.
  await page.getByText('To sign out Safari on iPhone').waitFor()
  await page.keyboard.type('secret')
  await page.keyboard.press('Enter')
  await page.getByText('Thank you. You can sign out Safari on iPhone now.').waitFor()
  await button.press('Enter')
  await page.getByText('Signed out on Safari on iPhone.').waitFor()
  await page.getByRole('link', { name: 'Sign out everywhere else…' }).press('Enter')
  await page.getByRole('button', { name: 'Sign out 1 device' }).press('Enter')
  await page.getByText('Signed out on 1 other device.').waitFor()
  expect(await password.limiter.sessions.count(2)).toBe(1)
})

test('many sessions come fifty to a page', async () => {
  const context = await visitor(many)
  for (let count = 3; count < 60; count += 1) await signIn(many, 'bob', count % 2 ? PHONE : LINUX)
  const page = await pageOf(context, many)
  await expect.poll(() => page.getByRole('button', { name: /^Sign out/ }).count()).toBe(50)
  expect(await faultsOf(page, 'account-many')).toEqual([])
  await page.getByRole('link', { name: /^Show \d+ more/ }).click()
  const ends = page.getByRole('button', { name: /^Sign out/ })
  await ends.first().click()
  await page.getByText(/^Signed out on/).waitFor()
  expect(page.url()).toMatch(/\?page=2$/)
  await expect.poll(() => page.getByRole('link', { name: /^Show \d+ more/ }).count()).toBe(0)
  await expect.poll(() => page.getByRole('button', { name: /^Sign out/ }).count()).toBe(8)
})

test('the times of devices that look the same are in the time zone of the browser, or in UTC without JavaScript', async () => {
  for (const [login, javaScriptEnabled, exact] of [
    ['alice', true, /^\d+ \w+ \d{4},? .*\d\d:\d\d:\d\d GMT\+9/],
    ['carol', false, /\d\d:\d\d:\d\d UTC/],
  ] as const) {
    const context = await visitor(many, { timezoneId: 'Asia/Tokyo', javaScriptEnabled }, login)
    await signIn(many, login, PHONE)
    const page = await pageOf(context, many)
    const times = page.locator('li', { hasText: 'Safari on iPhone' }).locator('time:last-of-type')
    await expect.poll(() => times.count()).toBe(2)
    for (const time of await times.all()) expect(await time.textContent()).toMatch(exact)
    expect(await times.first().getAttribute('title')).toMatch(javaScriptEnabled ? /GMT\+9$/ : /\d\d:\d\d UTC$/)
    await page.emulateMedia({ media: 'print' })
    expect(await page.locator('.print').textContent()).toMatch(javaScriptEnabled ? /GMT\+9/ : /UTC/)
  }
})
