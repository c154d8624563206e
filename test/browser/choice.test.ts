import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type ChoiceOptions, memoryStore, SessmgrError, type SessmgrOptions } from '../../src/index.ts'
import { startChromium } from '../support/chromium.ts'
import { type ExpressHost, openExpressHost } from '../support/express-host.ts'
import { forThisFile } from '../support/for-this-file.ts'
import { faultsOf } from '../support/page-faults.ts'
import { AGENTS } from '../support/user-agents.ts'

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

test('without JavaScript, by keys alone', async () => {
  const page = await choosing(plain, 2, { javaScriptEnabled: false })
  for (
    let tabs = 0;
    tabs < 9 &&
    (await page
      .getByRole('radio')
      .first()
      .evaluate((it) => it !== document.activeElement));
    tabs++
  ) {
    await page.keyboard.press('Tab')
  }
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByText('public page').waitFor()
  expect(await devicesOf(plain, 2)).toEqual(['phone', 'this'])
})

test('where two have to end, too few are refused with a notice that has the focus, and stay chosen', async () => {
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
  await press(page, 'Sign out everywhere else and continue')
  await page.getByText('public page').waitFor()
  expect(await devicesOf(plain, 3)).toEqual(['this'])
})

test('a list that has changed is shown again, with what is still chosen', async () => {
  const page = await choosing(plain, 4)
  const [phone] = await plain.limiter.sessions.list(1004)
  await choose(page, /^Safari on iPhone/)
  await plain.limiter.sessions.end(1004, phone?.token ?? '')
  await signIn(plain, 4, LINUX)
  await press(page, 'Sign out there and continue')
  await page.getByText('Something has changed in the meantime.').waitFor()
  await expect.poll(() => focusOf(page)).toContain('Please choose again.')
  expect(await faultsOf(page, 'choice-changed')).toEqual([])
})

test('at a maximum of one, the page asks whether to continue here', async () => {
  maximums.set(1005, 1)
  const page = await choosing(plain, 5, {}, [LINUX])
  await expect.poll(() => page.getByRole('radio').count()).toBe(0)
  await page.getByText('You are signed in on Firefox on Linux').waitFor()
  expect(await faultsOf(page, 'choice-only')).toEqual([])
  await press(page, 'Continue here')
  await page.getByText('public page').waitFor()
  expect(await devicesOf(plain, 5)).toEqual(['this'])
})

test('cancelling ends nothing, and going back shows the login', async () => {
  const page = await choosing(plain, 6)
  await press(page, 'Cancel')
  await page.getByText('login form').waitFor()
  await page.goBack()
  await page.getByText('login form').waitFor()
  expect(page.url()).toBe(`${plain.origin}/login?choice=expired`)
  expect(await devicesOf(plain, 6)).toEqual(['phone', 'linux'])
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

test('of fourteen devices ten are shown, and the others on request', async () => {
  maximums.set(1008, 14)
  const devices = Array.from({ length: 14 }, (_, index) => (index % 2 ? PHONE : LINUX))
  const page = await choosing(plain, 8, { javaScriptEnabled: false }, devices)
  const visible = () => page.getByRole('radio').count()
  expect(await visible()).toBe(10)
  await page.getByText('Show all 14').click()
  expect(await visible()).toBe(14)
  await page.getByRole('radio').last().check()
  await press(page, 'Sign out there and continue')
  await page.getByText('public page').waitFor()
  expect((await devicesOf(plain, 8)).at(-1)).toBe('this')
})

test('fourteen devices have no faults either, open or closed', async () => {
  maximums.set(1009, 14)
  const page = await choosing(
    plain,
    9,
    {},
    Array.from({ length: 14 }, () => LINUX),
  )
  expect(await faultsOf(page, 'choice-many')).toEqual([])
  await page.getByText('Show all 14').click()
  expect(await faultsOf(page, 'choice-all')).toEqual([])
})

test('right to left, the page reads in its language', async () => {
  const page = await choosing(plain, 10, { locale: 'ar' })
  expect(await page.evaluate(() => [document.documentElement.dir, document.title])).toEqual([
    'rtl',
    `${ARABIC.choice_title} – The example blog`,
  ])
  expect(await faultsOf(page, 'choice-rtl')).toEqual([])
})

test('while the store is away, nobody is signed in or out', async () => {
  const page = await choosing(plain, 11)
  await choose(page, /^Firefox on Linux/)
  isAway = true
  await press(page, 'Sign out there and continue')
  await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
  isAway = false
  expect(await faultsOf(page, 'choice-away')).toEqual([])
  await page.getByRole('link', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Where do you want to sign out?' }).waitFor()
  expect(await devicesOf(plain, 11)).toEqual(['phone', 'linux'])
})

test('without cookies, the page leads to the login and says why', async () => {
  const page = await (await chromium.visitor()).newPage()
  await page.goto(`${plain.origin}/login/choose`)
  expect(page.url()).toBe(`${plain.origin}/login?choice=cookies`)
})
