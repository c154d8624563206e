import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type ChoiceOptions, memoryStore, SessmgrError, type SessmgrOptions } from '../../../src/index.ts'
import { startChromium } from '../../support/chromium.ts'
import { type ExpressHost, openExpressHost } from '../../support/express-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf } from '../../support/page-faults.ts'
import { AGENTS } from '../../support/user-agents.ts'

const { iphone: PHONE, linux: LINUX } = AGENTS
const ARABIC = {
  lang: 'ar',
  dir: 'rtl',
  choice_title: 'أين تريد تسجيل الخروج؟',
  choice_need: 'لتسجيل الدخول هنا، سجّل الخروج من {need} منها.',
  choice_end: 'تسجيل الخروج هناك والمتابعة',
  choice_cancel: 'إلغاء',
}
const DAY = 86_400_000

/** Two, for whom nothing else is said here. */
const maximums = new Map<unknown, number>()
/** How late the clock of the store is. */
let behind = 0
let isAway = false

const memory = memoryStore({ clock: { now: () => Date.now() - behind } })
const sessions = new Proxy(memory.sessions, {
  get(store, name: keyof typeof memory.sessions) {
    if (isAway) throw new SessmgrError('store_unavailable', 'The store is away.')
    const part: unknown = store[name]
    return typeof part === 'function' ? part.bind(store) : part
  },
})
const sessmgr: SessmgrOptions = {
  store: { ...memory, sessions },
  settings: { maximum: (userId) => maximums.get(userId) ?? 2, logic: 'ask' },
  site: { url: 'https://blog.example', title: 'The example blog' },
  texts: ({ headers }) => (String(headers['accept-language']).startsWith('ar') ? ARABIC : {}),
}

const chromium = forThisFile(() => startChromium())
const open = (choice: ChoiceOptions) => forThisFile(() => openExpressHost({ sessmgr, way: 'redirect', choice }))
const [plain, careful] = [
  open({}),
  open({
    verify: (_request, _user, { code }) => code === '123456',
    field: { label: 'Code from the e-mail' },
    cooldown: { count: 1, minutes: 60 },
    show: { ip: true },
  }),
]

const signIn = ({ origin }: ExpressHost, user: number, agent: string) =>
  fetch(`${origin}/login`, {
    method: 'POST',
    headers: { 'user-agent': agent },
    body: new URLSearchParams({ username: `user${user}`, password: 'secret' }),
  })

/** Opens the page for a user who is signed in on these devices, after the login in a browser of its own. */
async function choosing(
  host: ExpressHost,
  user: number,
  options: BrowserContextOptions = {},
  devices: readonly string[] = [PHONE, LINUX],
): Promise<Page> {
  for (const agent of devices) await signIn(host, user, agent)
  const context = await chromium.visitor({ reducedMotion: 'reduce', ...options })
  const login = { form: { username: `user${user}`, password: 'secret' }, maxRedirects: 0 }
  const { status, location } = await context.request
    .post(`${host.origin}/login`, login)
    .then((answer) => ({ status: answer.status(), location: answer.headers().location }))
  expect([status, location]).toEqual([303, '/login/choose'])
  const page = await context.newPage()
  await page.goto(`${host.origin}/login/choose`)
  return page
}

const focusOf = (page: Page) => page.evaluate(() => document.activeElement?.textContent?.trim())
const devicesOf = async ({ limiter }: ExpressHost, user: number) =>
  (await limiter.sessions.list(1000 + user)).map(({ userAgent }) =>
    userAgent === PHONE ? 'phone' : userAgent === LINUX ? 'linux' : 'this',
  )
const choose = (page: Page, name: RegExp, role: 'radio' | 'checkbox' = 'radio') =>
  page.getByRole(role, { name }).check()
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

test('a user chooses one of two devices, which a screen reader names, and is signed in instead of it', async () => {
  behind = 12 * DAY
  await signIn(plain, 1, PHONE)
  behind = 0
  const page = await choosing(plain, 1, {}, [LINUX])
  await expect.poll(() => focusOf(page)).toBe('Where do you want to sign out?')
  const tree = (await page.getByRole('main').ariaSnapshot()).match(/(heading|group|radio|button) .*/g)
  expect(tree).toEqual([
    'heading "Where do you want to sign out?" [level=1]',
    'group "Choose one device":',
    expect.stringMatching(/^radio "Safari on iPhone Not used lately Used 12 days ago/),
    expect.stringMatching(/^radio "Firefox on Linux Used /),
    'button "Sign out there and continue"',
    'button "Sign out everywhere else and continue"',
    'button "Cancel"',
  ])
  expect(await faultsOf(page, 'choice-one')).toEqual([])
  await press(page, 'Sign out there and continue')
  expect(page.url()).toBe(`${plain.origin}/login/choose`)
  await choose(page, /^Safari on iPhone/)
  await press(page, 'Sign out there and continue')
  await page.getByText('public page').waitFor()
  expect((await page.goto(`${plain.origin}/me`))?.status()).toBe(200)
  expect(await devicesOf(plain, 1)).toEqual(['linux', 'this'])
})

test('without JavaScript, by keys alone, a user chooses one of fourteen, of which ten are shown at first', async () => {
  maximums.set(1002, 14)
  const devices = Array.from({ length: 14 }, (_, index) => (index % 2 ? PHONE : LINUX))
  const page = await choosing(plain, 2, { javaScriptEnabled: false }, devices)
  const radios = page.getByRole('radio')
  const isThere = () => radios.first().evaluate((it) => it === document.activeElement)
  for (let tabs = 0; tabs < 9 && !(await isThere()); tabs++) await page.keyboard.press('Tab')
  expect(await radios.count()).toBe(10)
  await page.getByText('Show all 14').click()
  expect(await radios.count()).toBe(14)
  await radios.first().focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByText('public page').waitFor()
  expect((await devicesOf(plain, 2)).at(-1)).toBe('this')
})

test('a refused choice has a notice with the focus, and keeps what was chosen; axe finds nothing in any state', async () => {
  maximums.set(1003, 3)
  const page = await choosing(plain, 3, {}, [PHONE, LINUX, LINUX])
  maximums.set(1003, 2)
  await page.reload()
  await choose(page, /^Safari on iPhone/, 'checkbox')
  await press(page, 'Sign out there and continue')
  await page.getByRole('alert').waitFor()
  await expect.poll(() => focusOf(page)).toContain('Choose 2.')
  expect(await page.title()).toMatch(/^Error: /)
  expect(await page.getByRole('checkbox', { name: /^Safari/ }).isChecked()).toBe(true)
  expect(await faultsOf(page, 'choice-few')).toEqual([])
  isAway = true
  await press(page, 'Sign out there and continue')
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
  isAway = false
  expect(await faultsOf(page, 'choice-away')).toEqual([])
  await page.getByRole('link', { name: 'Try again' }).click()
  await press(page, 'Cancel')
  await page.getByText('login form').waitFor()
  await page.goBack()
  await page.getByText('login form').waitFor()
  expect(page.url()).toBe(`${plain.origin}/login?choice=expired`)
})

test('axe finds nothing with one device, with fourteen, and from right to left', async () => {
  maximums.set(1005, 1)
  const only = await choosing(plain, 5, {}, [LINUX])
  await only.getByText('You are signed in on Firefox on Linux').waitFor()
  expect(await faultsOf(only, 'choice-only')).toEqual([])
  maximums.set(1009, 14)
  const devices = Array.from({ length: 14 }, () => LINUX)
  const many = await choosing(plain, 9, {}, devices)
  await many.getByText('Show all 14').click()
  expect(await faultsOf(many, 'choice-all')).toEqual([])
  const page = await choosing(plain, 10, { locale: 'ar' })
  expect(await page.evaluate(() => [document.documentElement.dir, document.title])).toEqual([
    'rtl',
    `${ARABIC.choice_title} – The example blog`,
  ])
  expect(await faultsOf(page, 'choice-rtl')).toEqual([])
})

test('a second proof is asked for on the page, and frequent changes are refused', async () => {
  const page = await choosing(careful, 7)
  await page.getByText('127.0.0.1').first().waitFor()
  await choose(page, /^Firefox on Linux/)
  await page.getByLabel('Code from the e-mail').fill('1')
  await press(page, 'Sign out there and continue')
  await page.getByText('That is wrong.').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('code')
  expect(await page.getByRole('radio', { name: /^Firefox/ }).isChecked()).toBe(true)
  expect(await faultsOf(page, 'choice-code')).toEqual([])
  await page.getByLabel('Code from the e-mail').fill('123456')
  await page.keyboard.press('Enter')
  await page.getByText('public page').waitFor()
  const again = await choosing(careful, 7, {}, [])
  await again.getByRole('heading', { name: 'This account has changed devices too often' }).waitFor()
  expect(await faultsOf(again, 'choice-often')).toEqual([])
})
