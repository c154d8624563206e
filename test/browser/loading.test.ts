import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Chromium, seenBy, startChromium, watch } from '../support/chromium.ts'
import { type CommentsHost, startCommentsHost, voices } from '../support/comments-host.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

let chromium: Chromium
let host: CommentsHost
beforeAll(async () => {
  chromium = await startChromium()
  host = await startCommentsHost()
})
afterAll(async () => {
  await chromium?.close()
  await host?.close()
})
beforeEach(async () => {
  host.failures.length = 0
  host.requests.length = 0
  await host.comments.settings.update({ load_method: 'click', button_text: '', button_class: '' })
})

const loaded = (page: Page) => page.locator('lazy-comments[data-loaded=true]').waitFor({ state: 'attached' })
const focused = (page: Page) => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName)

async function visit(path: string, options = {}): Promise<Page> {
  const context = await chromium.visitor(options)
  await watch(context)
  const page = await context.newPage()
  await page.goto(`${host.origin}${path}`)
  return page
}

describe('a deep link', () => {
  test.each(['comment-17', 'respond', 'comments', 'comment-%31%37'])(
    '#%s loads at once and is focused',
    async (hash) => {
      const page = await visit(`/posts/1#${hash}`)
      await loaded(page)
      expect(await focused(page)).toBe(decodeURIComponent(hash))
      expect(await page.locator(`[id="${decodeURIComponent(hash)}"]`).evaluate(isInView)).toBe(true)
      expect(host.requests).toHaveLength(1)
    },
  )

  test('that comes later loads, too', async () => {
    const page = await visit('/posts/1')
    await page.evaluate(() => {
      location.hash = 'comment-3'
    })
    await loaded(page)
    expect(await focused(page)).toBe('comment-3')
  })

  test('to a comment that is gone says so', async () => {
    const page = await visit('/posts/1#comment-999')
    await loaded(page)
    expect(await page.getByRole('status').textContent()).toBe('That comment is no longer here.')
  })
})

function isInView(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}

test('a click moves the focus to the heading, says how many, ends busy, and axe finds nothing', async () => {
  const page = await visit('/posts/1?space=100', {})
  await page.locator('.lazycomments-button').press('Enter')
  await loaded(page)
  expect(await focused(page)).toBe('H2')
  expect(await page.getByRole('status').textContent()).toBe('20 comments loaded')
  expect(await page.locator('[aria-busy]').count()).toBe(0)
  const { violations } = await seenBy(page)
  expect(violations).toEqual([])
  const plain = await visit('/posts/1?space=100', { bypassCSP: true })
  await plain.locator('.lazycomments-button').click()
  await loaded(plain)
  await plain.addScriptTag({ path: AXE })
  const found = await plain.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
  expect(found).toEqual([])
})

test('scrolling never moves the focus', async () => {
  await host.comments.settings.set('load_method', 'scroll')
  const page = await visit('/posts/1')
  expect(host.requests).toHaveLength(0)
  // A turn of the wheel is lost on a page that is not ready for it.
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await loaded(page)
  expect(await focused(page)).toBe('BODY')
})

test('without JavaScript the link shows the whole thread and the form', async () => {
  const page = await visit('/posts/1', { javaScriptEnabled: false })
  await page.getByRole('link', { name: 'Load Comments' }).click()
  expect(await page.locator('[id^=comment-]').count()).toBe(20)
  expect(await page.locator('form#respond').count()).toBe(1)
})

test('a stale nonce makes exactly one retry, without it', async () => {
  const { cookie } = await host.signIn('alice')
  const page = await visit('/posts/1')
  const [name = '', value = ''] = cookie.split('=')
  await page.context().addCookies([{ name, value, url: host.origin }])
  await page.reload()
  await page.locator('lazy-comments').evaluate((element) => element.setAttribute('data-nonce', 'stale'))
  await page.locator('.lazycomments-button').click()
  await loaded(page)
  expect(host.requests.map(({ headers }) => headers['x-host-nonce'])).toEqual(['stale', undefined])
})

test('500 orders of triggers make at most one successful request each; reconnecting 1,000 times makes none', async () => {
  const page = await visit('/posts/1')
  await page.route('**/lazycomments/v1/comments*', (route) => route.abort())
  const most = await page.evaluate(async () => {
    let count = 0
    window.fetch = async () => {
      count += 1
      return new Response('{"html":"<h2>Some</h2>"}')
    }
    const first = document.querySelector('lazy-comments') as HTMLElement
    const counts: number[] = []
    for (let view = 0; view < 500; view++) {
      const element = first.cloneNode(true) as HTMLElement
      count = 0
      document.body.append(element)
      const triggers = [
        () => element.querySelector<HTMLElement>('.lazycomments-button')?.click(),
        () => window.dispatchEvent(new Event('beforeprint')),
        () => window.dispatchEvent(new Event('hashchange')),
        () => Promise.resolve(),
      ]
      for (let step = 0; step < 6; step++) await triggers[Math.floor(Math.random() * 4)]?.()
      window.dispatchEvent(new Event('beforeprint'))
      await new Promise((done) => setTimeout(done))
      counts.push(count - (view === 0 ? 1 : 0))
      element.remove()
      if (view === 0) first.remove()
    }
    count = 0
    const again = first.cloneNode(true) as HTMLElement
    delete again.dataset.loaded
    for (let turn = 0; turn < 1000; turn++) {
      document.body.append(again)
      again.remove()
    }
    window.dispatchEvent(new Event('beforeprint'))
    return { most: Math.max(...counts), detached: count }
  })
  expect(most).toEqual({ most: 1, detached: 0 })
})

test('500 hostile texts in comments and settings run nothing, under the policy, without a violation by the script', async () => {
  const calls = [
    '<script>ran()</script>',
    '<img src=x onerror=ran()>',
    '<svg onload=ran()>',
    '<iframe srcdoc="<script>parent.ran()</script>">',
    '<a href="javascript:ran()">x</a>',
  ]
  const wraps = ['%', '"%', "'%", '</p>%', '<b>%']
  const payloads = Array.from(
    { length: 500 },
    (_, n) => `${n} ${wraps[n % 5]?.replace('%', calls[Math.floor(n / 5) % 5] ?? '')}`,
  )
  expect(new Set(payloads).size).toBe(500)
  host.posts.set(3, { id: 3, status: 'published', comments: [...payloads, ...voices(1)] })
  await host.comments.settings.update({ button_text: payloads[6], button_class: payloads[7] })
  const page = await visit('/posts/3')
  await page.evaluate(() => Object.assign(window, { ran: () => window.seen.ran.push(1) }))
  await page.locator('.lazycomments-button').click()
  await loaded(page)
  const { ran, violations } = await seenBy(page)
  expect(ran).toEqual([])
  expect(violations.filter((one) => one.includes('trusted-types'))).toEqual([])
})
