import { beforeAll, beforeEach, expect, test } from 'vitest'
import { commentsLoaded } from '../../support/chromium.ts'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const NEAR = '/posts/1?space=100'

const host = forThisFile(() => startCommentsBrowser())
beforeAll(async () => void (await host.comments.settings.set('load_method', 'click')))
beforeEach(() => {
  host.failures.length = 0
  host.requests.length = 0
})

/** Opens the post and notes how long the script waits each time. */
async function open({ cookie = '', nonce = '', bypassCSP = false } = {}) {
  const page = await host.open('/nonce', { bypassCSP })
  const [name = '', value = ''] = cookie.split('=')
  if (cookie) await page.context().addCookies([{ name, value, url: host.origin }])
  await page.addInitScript(() => {
    const waits: number[] = []
    Object.assign(window, { waits })
    const wait = window.setTimeout
    const note = (run: () => void, ms: number) => {
      waits.push(ms)
      return wait(run, 0)
    }
    Object.assign(window, { setTimeout: note })
  })
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
  }
}

test('errors, broken answers and 429 are tried again after 300 and 600 ms, give or take a quarter, at random', async () => {
  const seen = new Set<number>()
  for (const failures of [
    [500, 503],
    ['cut', 'cut'],
    [429, 429],
  ] as const) {
    host.requests.length = 0
    host.failures.push(...failures)
    const { button, loaded, waits } = await open()
    await button.click()
    await loaded()
    const [first = 0, second = 0, ...more] = await waits()
    expect(host.requests, String(failures)).toHaveLength(3)
    expect([Math.abs(first - 300) <= 75, Math.abs(second - 600) <= 150, more]).toEqual([true, true, []])
    seen.add(first)
  }
  expect(seen.size).toBe(3)
})

test('there is a message after three errors, and after one request that will never succeed', async () => {
  for (const [failures, count] of [
    [[500, 500, 500], 3],
    [[404], 1],
    [[400], 1],
  ] as const) {
    host.requests.length = 0
    host.failures.push(...failures)
    const { button, failed } = await open()
    await button.click()
    await failed()
    expect(host.requests, String(failures)).toHaveLength(count)
  }
})

test('Retry-After is respected; who is told to stay away for longer than a reader waits is told until when', async () => {
  for (const [seconds, expected, count] of [
    ['2', [2000], 2],
    ['60', [], 1],
  ] as const) {
    host.requests.length = 0
    host.failures.push({ status: 429, headers: { 'Retry-After': seconds } })
    const { page, button, loaded, waits } = await open()
    await button.click()
    const later = page.getByText(/^Comments could not be loaded\. Try again at \d+:\d\d\s[AP]M\.$/)
    await (count === 2 ? loaded() : later.waitFor())
    expect(await waits()).toEqual(expected)
    expect(host.requests).toHaveLength(count)
  }
})

test('what gives no answer for ten seconds counts as failed', async () => {
  host.failures.push(0)
  const { page, button, failed } = await open()
  await page.evaluate(() => {
    const { timeout } = AbortSignal
    AbortSignal.timeout = (ms) => {
      Object.assign(window, { limit: ms })
      return timeout.call(AbortSignal, ms / 20)
    }
  })
  await button.click()
  await failed()
  expect(await page.evaluate('limit')).toBe(10_000)
  expect(host.requests).toHaveLength(1)
  await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0)
})

test('offline there is a message; back online the comments come by themselves, if somebody asked for them', async () => {
  const { page, button, failed, loaded } = await open()
  await page.context().setOffline(true)
  await page.context().setOffline(false)
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(drawn))')
  expect(await page.locator('lazy-comments').getAttribute('aria-busy')).toBe(null)
  await page.context().setOffline(true)
  await button.click()
  await failed()
  expect(host.requests).toHaveLength(0)
  await page.context().setOffline(false)
  await loaded()
  expect(host.requests).toHaveLength(1)
})

test('markup cannot make the script fetch from another site, nor when printing', async () => {
  const { page, button, failed } = await open({ bypassCSP: true })
  const [, foreign] = host.origin.split('127.0.0.1')
  await page.locator('lazy-comments').evaluate((element, port) => {
    element.setAttribute('src', `http://localhost${port}/api/lazycomments/v1/comments?post_id=1`)
  }, foreign)
  await page.evaluate('dispatchEvent(new Event("beforeprint"))')
  expect(await page.locator('[id^=comment-]').count()).toBe(0)
  await button.click()
  await failed()
  expect(host.requests).toHaveLength(0)
})

test('rule 36: who is not signed in sends no nonce, who is sends it and gets a fresh one for what comes next', async () => {
  const guest = await open()
  await guest.button.click()
  await guest.loaded()
  expect(guest.nonces()).toEqual([undefined])

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
})

test('rule 36: a stale nonce makes exactly one retry, without it, and the reader is asked to reload', async () => {
  const { cookie } = await host.signIn('alice')
  const { page, button, loaded, nonces, waits } = await open({ cookie, nonce: 'stale' })
  await button.click()
  await loaded()
  expect(nonces()).toEqual(['stale', undefined])
  expect(await waits()).toEqual([])
  await expect.poll(() => page.getByText('As guest').count()).toBe(1)
  await page.getByRole('status').getByText('Reload this page to comment as yourself.').waitFor()
})

test('rule 36: a second 403 is an error, and a retry sends the fresh nonce of an answer, but none that is stale', async () => {
  const { cookie } = await host.signIn('alice')
  for (const [failures, sent] of [
    [
      [403, 403],
      ['stale', undefined, undefined],
    ],
    [
      [{ status: 404, headers: { 'X-HOST-Nonce': 'fresh' } }, 404],
      ['stale', 'fresh'],
    ],
  ] as const) {
    host.requests.length = 0
    host.failures.push(...failures)
    const { button, failed, loaded, nonces } = await open({ cookie, nonce: 'stale' })
    await button.click()
    await failed()
    expect(await button.textContent()).toBe('Try again')
    await button.click()
    await (sent.length === 3 ? loaded() : expect.poll(() => host.requests.length).toBe(2))
    expect(nonces()).toEqual(sent)
  }
})
