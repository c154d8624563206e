import { beforeAll, beforeEach, expect, test } from 'vitest'
import { commentsLoaded } from '../support/chromium.ts'
import { startCommentsBrowser } from '../support/comments-browser.ts'
import { forThisFile } from '../support/for-this-file.ts'

const NEAR = '/posts/1?space=100'

const host = forThisFile(() => startCommentsBrowser())
beforeAll(async () => void (await host.comments.settings.set('load_method', 'click')))
beforeEach(() => {
  host.failures.length = 0
  host.requests.length = 0
})

/** Opens the post and notes how long the script waits each time. */
async function open({ cookie = '', nonce = '', fast = true } = {}) {
  const page = await host.open('/nonce')
  const [name = '', value = ''] = cookie.split('=')
  if (cookie) await page.context().addCookies([{ name, value, url: host.origin }])
  await page.addInitScript((isFast) => {
    const waits: number[] = []
    Object.assign(window, { waits })
    const wait = window.setTimeout
    const note = (run: () => void, ms: number) => {
      waits.push(ms)
      return wait(run, isFast ? 0 : ms)
    }
    Object.assign(window, { setTimeout: note })
  }, fast)
  await page.goto(`${host.origin}${NEAR}`)
  if (nonce)
    await page.locator('lazy-comments').evaluate((element, one) => element.setAttribute('data-nonce', one), nonce)
  const button = page.locator('.lazycomments-button')
  return {
    page,
    button,
    waits: () => page.evaluate<number[]>('waits'),
    loaded: () => commentsLoaded(page),
    failed: () => page.getByText('Comments could not be loaded.').waitFor(),
    nonces: () => host.requests.map(({ headers }) => headers['x-host-nonce']),
    nonce: () => page.locator('lazy-comments').getAttribute('data-nonce'),
    close: () => page.context().close(),
  }
}

test.each([
  ['errors of the server', [500, 503]],
  ['answers that break off', ['cut', 'cut']],
  ['too many requests without a time', [429, 429]],
] as const)('%s are tried again after 300 and 600 ms, give or take a quarter', async (_name, failures) => {
  host.failures.push(...failures)
  const { button, loaded, waits, close } = await open()
  await button.click()
  await loaded()
  const [first = 0, second = 0, ...more] = await waits()
  expect(host.requests).toHaveLength(3)
  expect(more).toEqual([])
  expect([Math.abs(first - 300) <= 75, Math.abs(second - 600) <= 150]).toEqual([true, true])
  await close()
})

test('the waits differ from reader to reader', async () => {
  const seen = new Set<number>()
  for (let reader = 0; reader < 3; reader++) {
    host.failures.push(503)
    const { button, loaded, waits, close } = await open()
    await button.click()
    await loaded()
    for (const wait of await waits()) seen.add(wait)
    await close()
  }
  expect(seen.size).toBe(3)
})

test.each([
  [[500, 500, 500], 3],
  [[404], 1],
  [[400], 1],
])('after %j there is a message, after %i requests', async (failures, count) => {
  host.failures.push(...failures)
  const { button, failed, close } = await open()
  await button.click()
  await failed()
  expect(host.requests).toHaveLength(count)
  await close()
})

test.each([
  ['2', [2000], 2],
  // Who is told to stay away for longer than a reader waits is told when to try again.
  ['60', [], 1],
])('Retry-After: %s is respected', async (seconds, expected, count) => {
  host.failures.push({ status: 429, headers: { 'Retry-After': seconds } })
  const { page, button, loaded, waits, close } = await open()
  await button.click()
  const later = page.getByText(/^Comments could not be loaded\. Try again at \d+:\d\d\s[AP]M\.$/)
  await (count === 2 ? loaded() : later.waitFor())
  expect(await waits()).toEqual(expected)
  expect(host.requests).toHaveLength(count)
  await close()
})

test('what gives no answer for ten seconds counts as failed', async () => {
  host.failures.push(0)
  const { page, button, failed, close } = await open({ fast: false })
  const start = await page.evaluate('performance.now()')
  await button.click()
  await failed()
  const took = Number(await page.evaluate('performance.now()')) - Number(start)
  expect(took).toBeGreaterThanOrEqual(10_000)
  expect(host.requests).toHaveLength(1)
  await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0)
  await close()
})

test('offline there is a message; back online the comments come by themselves', async () => {
  const { page, button, failed, loaded, close } = await open()
  await page.context().setOffline(true)
  await button.click()
  await failed()
  expect(host.requests).toHaveLength(0)
  await page.context().setOffline(false)
  await loaded()
  expect(host.requests).toHaveLength(1)
  await close()
})

test('being online again loads nothing that nobody has asked for', async () => {
  const { page, close } = await open()
  await page.context().setOffline(true)
  await page.context().setOffline(false)
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(drawn))')
  expect(await page.locator('lazy-comments').getAttribute('aria-busy')).toBe(null)
  expect(host.requests).toHaveLength(0)
  await close()
})

test('markup cannot make the script fetch from another site', async () => {
  const { page, button, failed, close } = await open()
  const [, foreign] = host.origin.split('127.0.0.1')
  await page.locator('lazy-comments').evaluate((element, port) => {
    element.setAttribute('src', `http://localhost${port}/api/lazycomments/v1/comments?post_id=1`)
  }, foreign)
  await button.click()
  await failed()
  expect(host.requests).toHaveLength(0)
  await close()
})

test('rule 36: who is not signed in sends no nonce, who is sends it and gets a fresh one for what comes next', async () => {
  const guest = await open()
  await guest.button.click()
  await guest.loaded()
  expect(guest.nonces()).toEqual([undefined])
  await guest.close()

  host.requests.length = 0
  const { cookie } = await host.signIn('alice')
  const reader = await open({ cookie })
  const sent = await reader.nonce()
  await reader.button.click()
  await reader.loaded()
  expect(sent).toMatch(/\w{10}/)
  expect(reader.nonces()).toEqual([sent])
  await expect.poll(() => reader.page.getByText('As alice').count()).toBe(1)
  expect(await reader.nonce()).toMatch(/\w{10}/)
  await reader.close()
})

test('a fresh nonce that comes with an answer is the one that the next request sends', async () => {
  const { cookie } = await host.signIn('alice')
  host.failures.push({ status: 404, headers: { 'X-HOST-Nonce': 'fresh' } })
  const { button, failed, loaded, nonces, nonce, close } = await open({ cookie, nonce: 'first' })
  await button.click()
  await failed()
  expect(await nonce()).toBe('fresh')
  host.failures.push(503)
  await button.click()
  await loaded()
  expect(nonces().slice(0, 2)).toEqual(['first', 'fresh'])
  await close()
})

test('rule 36: a stale nonce makes exactly one retry, without it, and the reader is asked to reload', async () => {
  const { cookie } = await host.signIn('alice')
  const { page, button, loaded, nonces, waits, close } = await open({ cookie, nonce: 'stale' })
  await button.click()
  await loaded()
  expect(nonces()).toEqual(['stale', undefined])
  expect(await waits()).toEqual([])
  await expect.poll(() => page.getByText('As guest').count()).toBe(1)
  await page.getByRole('status').getByText('Reload this page to comment as yourself.').waitFor()
  await close()
})

test('rule 36: a second 403 is an error, and its retry sends no stale nonce', async () => {
  const { cookie } = await host.signIn('alice')
  host.failures.push(403, 403)
  const { button, failed, loaded, nonces, close } = await open({ cookie, nonce: 'stale' })
  await button.click()
  await failed()
  expect(nonces()).toEqual(['stale', undefined])
  expect(await button.textContent()).toBe('Try again')
  await button.click()
  await loaded()
  expect(nonces()).toEqual(['stale', undefined, undefined])
  await close()
})
