import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commentsLoaded, focused } from '../support/chromium.ts'
import { type CommentsBrowser, startCommentsBrowser } from '../support/comments-browser.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
const NEAR = '/posts/1?space=100'

let host: CommentsBrowser
beforeAll(async () => {
  host = await startCommentsBrowser()
})
afterAll(() => host?.close())
beforeEach(async () => {
  host.failures.length = 0
  await host.comments.settings.update({ load_method: 'click', show_loader: true })
})

const busy = (page: Page) => page.locator('lazy-comments').getAttribute('aria-busy')
const failed = (page: Page) => page.getByText('Comments could not be loaded.').waitFor()

describe('axe finds nothing', () => {
  test.each([
    ['before loading', undefined, async () => {}],
    ['while loading', 0, (page: Page) => page.locator('lazy-comments[aria-busy=true]').waitFor()],
    ['after an error', 404, failed],
    ['after loading', undefined, commentsLoaded],
  ])('%s', async (state, failure, reached) => {
    host.failures.push(failure)
    const page = await host.open(NEAR, { bypassCSP: true })
    if (state !== 'before loading') await page.locator('.lazycomments-button').click()
    await reached(page)
    await page.addScriptTag({ path: AXE })
    const found = await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
    expect(found).toEqual([])
    await page.context().close()
  })
})

test('the comments are busy while they load and at no other time', async () => {
  host.failures.push(404)
  const page = await host.open(NEAR)
  const states = () => page.evaluate<string[]>('states')
  await page.evaluate(() => {
    const element = document.querySelector('lazy-comments') as HTMLElement
    const states: string[] = []
    Object.assign(window, { states })
    new MutationObserver(() => states.push(`${element.ariaBusy} ${element.dataset.loaded}`)).observe(element, {
      attributeFilter: ['aria-busy'],
    })
  })
  expect(await busy(page)).toBe(null)
  await page.locator('.lazycomments-button').click()
  await failed(page)
  expect(await states()).toEqual(['true ', 'null '])
  await page.locator('.lazycomments-button').click()
  await commentsLoaded(page)
  expect(await states()).toEqual(['true ', 'null ', 'true ', 'null true'])
  await page.context().close()
})

test('taking the comments away while they load ends the request and the busy state', async () => {
  host.failures.push(0)
  const page = await host.open(NEAR)
  const ended = page.waitForEvent('requestfailed')
  await page.locator('.lazycomments-button').click()
  await page.locator('lazy-comments[aria-busy=true]').waitFor()
  const left = await page.evaluate(() => {
    const element = document.querySelector('lazy-comments') as HTMLElement
    element.remove()
    return element.ariaBusy
  })
  expect(left).toBe(null)
  expect((await ended).failure()?.errorText).toBe('net::ERR_ABORTED')
  await page.context().close()
})

test('one status says how many comments came, an alert what went wrong until the next try', async () => {
  host.failures.push(404)
  const page = await host.open(NEAR)
  const button = page.locator('.lazycomments-button')
  await button.click()
  await failed(page)
  expect(await page.getByRole('alert').textContent()).toBe('Comments could not be loaded.')
  expect(await button.textContent()).toBe('Try again')
  expect(await focused(page)).toBe('A')
  await button.click()
  await commentsLoaded(page)
  expect(await page.getByRole('status').allTextContents()).toEqual(['20 comments loaded'])
  expect(await page.getByRole('alert').allTextContents()).toEqual([''])
  await page.context().close()
})

test('a click moves the focus to the heading', async () => {
  const page = await host.open(NEAR)
  await page.locator('.lazycomments-button').click()
  await commentsLoaded(page)
  expect(await focused(page)).toBe('H2')
  await page.context().close()
})

test('scrolling never moves the focus', async () => {
  await host.comments.settings.set('load_method', 'scroll')
  const page = await host.open('/posts/1')
  await page.locator('#space a').focus()
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await commentsLoaded(page)
  expect(await page.evaluate('document.activeElement.textContent')).toBe('What reader 17 says')
  await page.context().close()
})

test('focus that leaves for elsewhere while the comments load stays there', async () => {
  const page = await host.open(NEAR)
  await page.route('**/lazycomments/v1/comments*', async (route) => {
    await page.locator('#space a').focus()
    await route.continue()
  })
  await page.locator('.lazycomments-button').click()
  await commentsLoaded(page)
  expect(await page.evaluate('document.activeElement.textContent')).toBe('What reader 17 says')
  await page.context().close()
})

test('the keyboard alone reaches the button, loads, retries and reaches the form', async () => {
  host.failures.push(404)
  const page = await host.open(NEAR)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.className')).toBe('lazycomments-button')
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
  expect(outline).not.toBe('none')
  await page.keyboard.press('Enter')
  await failed(page)
  await page.keyboard.press('Enter')
  await commentsLoaded(page)
  expect(await focused(page)).toBe('H2')
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.getAttribute("name")')).toBe('text')
  await page.context().close()
})

test('the button is a link that is large enough, and a click with Ctrl is left to the browser', async () => {
  const page = await host.open(NEAR, { viewport: { width: 360, height: 740 } })
  const button = page.getByRole('link', { name: 'Load Comments' })
  const { width = 0, height = 0 } = (await button.boundingBox()) ?? {}
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(24)
  const opened = page.context().waitForEvent('page')
  await button.click({ modifiers: ['Control'] })
  expect(new URL((await opened).url()).search).toBe('?comments=all')
  expect(await page.locator('lazy-comments').getAttribute('data-loaded')).toBe(null)
  await page.context().close()
})

test.each([
  ['no-preference', true, 1],
  ['reduce', true, 0],
  ['no-preference', false, 0],
] as const)(
  'with motion %s and the loader %s, %i animations run while loading',
  async (reducedMotion, loader, count) => {
    await host.comments.settings.set('show_loader', loader)
    host.failures.push(0)
    const page = await host.open(NEAR, { reducedMotion })
    await page.locator('.lazycomments-button').click()
    await page.locator('lazy-comments[aria-busy=true]').waitFor()
    expect(await page.evaluate('document.getAnimations().length')).toBe(count)
    await page.context().close()
  },
)

describe('printing', () => {
  test('loads the comments', async () => {
    const page = await host.open('/posts/1')
    await page.pdf()
    await commentsLoaded(page)
    await page.context().close()
  })

  test('leaves out the button and the room that is kept for the comments', async () => {
    await host.comments.settings.set('load_method', 'scroll')
    host.failures.push(0)
    const page = await host.open('/posts/1', { viewport: { width: 700, height: 500 } })
    const button = page.locator('.lazycomments-button')
    const height = () => page.locator('lazy-comments').evaluate((element) => element.clientHeight)
    expect([await button.isVisible(), await height()]).toEqual([true, 500])
    await page.emulateMedia({ media: 'print' })
    expect([await button.isVisible(), (await height()) < 150]).toEqual([false, true])
    await page.context().close()
  })
})
