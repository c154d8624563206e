import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, test } from 'vitest'
import { commentsLoaded, focused } from '../../support/chromium.ts'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { axe } from '../../support/page-faults.ts'

const NEAR = '/posts/1?space=100'

const host = forThisFile(() => startCommentsBrowser())
beforeEach(async () => {
  host.failures.length = 0
  await host.comments.settings.update({ load_method: 'click', show_loader: true })
})

const busy = (page: Page) => page.locator('lazy-comments').getAttribute('aria-busy')
const failed = (page: Page) => page.getByText('Comments could not be loaded.').waitFor()

test('by keyboard: loading, an error and a retry are told, nothing moves, and axe finds nothing in any state', async () => {
  host.failures.push(404)
  const page = await host.open(NEAR, { bypassCSP: true })
  const button = page.locator('.lazycomments-button')
  const states = () => page.evaluate<string[]>('states')
  await page.evaluate(() => {
    const element = document.querySelector('lazy-comments') as HTMLElement
    const states: string[] = []
    Object.assign(window, { states })
    new MutationObserver(() => states.push(`${element.ariaBusy} ${element.dataset.loaded}`)).observe(element, {
      attributeFilter: ['aria-busy'],
    })
  })
  expect([await busy(page), await axe(page)]).toEqual([null, []])
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await expect.poll(() => page.evaluate('document.activeElement.className')).toBe('lazycomments-button')
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
  expect(outline).not.toBe('none')
  const before = await button.boundingBox()
  await page.keyboard.press('Enter')
  await failed(page)
  expect(await states()).toEqual(['true ', 'null '])
  expect(await page.getByRole('alert').textContent()).toBe('Comments could not be loaded.')
  expect(await button.textContent()).toBe('Try again')
  await expect.poll(() => focused(page)).toBe('BUTTON')
  // The message stands above the button.
  const message = await page.getByRole('alert').boundingBox()
  const after = await button.boundingBox()
  expect(after?.y).toBe(before?.y)
  expect((message?.y ?? 0) + (message?.height ?? 0)).toBeLessThanOrEqual(after?.y ?? 0)
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Enter')
  await commentsLoaded(page)
  expect(await states()).toEqual(['true ', 'null ', 'true ', 'null true'])
  expect(await page.getByRole('status').allTextContents()).toEqual(['20 comments loaded'])
  expect(await page.getByRole('alert').allTextContents()).toEqual([''])
  await expect.poll(() => focused(page)).toBe('H2')
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Tab')
  await expect.poll(() => page.evaluate('document.activeElement.getAttribute("name")')).toBe('text')
})

test('while they load, axe finds nothing, lines hold the place, and nothing is animated for who wants no motion', async () => {
  for (const [reducedMotion, loader, count] of [
    ['no-preference', true, 1],
    ['reduce', true, 0],
    ['no-preference', false, 0],
  ] as const) {
    await host.comments.settings.set('show_loader', loader)
    host.failures.push(0)
    const page = await host.open(NEAR, { reducedMotion, bypassCSP: true })
    const ended = page.waitForEvent('requestfailed')
    await page.locator('.lazycomments-button').click()
    await page.locator('lazy-comments[aria-busy=true]').waitFor()
    expect(await page.evaluate('document.getAnimations().length'), `${reducedMotion} ${loader}`).toBe(count)
    const lines = await page.evaluate(`getComputedStyle(document.querySelector('lazy-comments'), '::after').height`)
    expect(lines).toBe(loader ? '80px' : 'auto')
    expect(await axe(page)).toEqual([])
    // Taking the comments away ends the request and the busy state.
    const left = await page.locator('lazy-comments').evaluate((element) => {
      element.remove()
      return element.ariaBusy
    })
    expect(left).toBe(null)
    expect((await ended).failure()?.errorText).toBe('net::ERR_ABORTED')
  }
})

test('the focus stays elsewhere when scrolling loads the comments, or when it has left while they load', async () => {
  const place = (page: Page) => page.evaluate('document.activeElement.textContent')
  const page = await host.open(NEAR)
  await page.route('**/lazycomments/v1/comments*', async (route) => {
    await page.locator('#space a').focus()
    await route.continue()
  })
  await page.locator('.lazycomments-button').click()
  await commentsLoaded(page)
  await expect.poll(() => place(page)).toBe('What reader 17 says')
  await host.comments.settings.set('load_method', 'scroll')
  const other = await host.open('/posts/1')
  await other.locator('#space a').focus()
  await other.evaluate('scrollTo(0, document.body.scrollHeight)')
  await commentsLoaded(other)
  await expect.poll(() => place(other)).toBe('What reader 17 says')
})

test('the button is a real one, large enough, and looks as the buttons of the theme do', async () => {
  const page = await host.open('/nonce', { viewport: { width: 360, height: 740 }, bypassCSP: true })
  await page.route('**/posts/*', async (route) => {
    const response = await route.fetch()
    const style = '<style>button{background:#010203;border-radius:7px}</style>'
    await route.fulfill({ response, body: (await response.text()).replace('</head>', `${style}</head>`) })
  })
  await page.goto(`${host.origin}${NEAR}`)
  const button = page.getByRole('button', { name: 'Load Comments' })
  const { width = 0, height = 0 } = (await button.boundingBox()) ?? {}
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(24)
  const look = await button.evaluate((element) => {
    const { backgroundColor, borderRadius } = getComputedStyle(element)
    return [backgroundColor, borderRadius, element.getAttribute('type')]
  })
  expect(look).toEqual(['rgb(1, 2, 3)', '7px', 'button'])
  await expect.poll(() => page.locator('lazy-comments a').count()).toBe(0)
})

describe('printing', () => {
  /** Prints the page, and tells how many sheets that takes. */
  const sheets = async (page: Page) => (await page.pdf()).toString('latin1').split(/\/Type \/Page\b/).length - 1

  test('has the comments on the first print', async () => {
    for (const method of ['click', 'scroll']) {
      host.failures.length = 0
      await host.comments.settings.set('load_method', method)
      const page = await host.open('/posts/1')
      const first = await sheets(page)
      await commentsLoaded(page)
      expect(await sheets(page), method).toBe(first)
      host.failures.push(404, 404)
      expect(await sheets(await host.open('/posts/1')), method).toBeLessThan(first)
    }
  })

  test('overtakes what is still on its way, and shows it once', async () => {
    host.failures.push(0)
    const page = await host.open(NEAR)
    const before = host.requests.length
    await page.locator('.lazycomments-button').click()
    // The first call is the one that is never answered: the print must not overtake it on its way to the server.
    await expect.poll(() => host.requests.length).toBe(before + 1)
    await page.pdf()
    await commentsLoaded(page)
    expect([await busy(page), await page.locator('[id^=comment-]').count()]).toEqual([null, 20])
  })

  test('as a signed-in reader has the own form, also where the nonce has gone stale', async () => {
    const { cookie } = await host.signIn('alice')
    const [name = '', value = ''] = cookie.split('=')
    for (const nonce of [undefined, 'stale']) {
      const page = await host.open('/nonce')
      await page.context().addCookies([{ name, value, url: host.origin }])
      await page.goto(`${host.origin}/posts/1`)
      if (nonce)
        await page.locator('lazy-comments').evaluate((element, one) => element.setAttribute('data-nonce', one), nonce)
      await page.pdf()
      await commentsLoaded(page)
      await expect.poll(() => page.getByText(nonce ? 'As guest' : 'As alice').count()).toBe(1)
    }
  })

  test('prints where the comments are when they cannot be loaded, and leaves out the button and their room', async () => {
    await host.comments.settings.set('load_method', 'scroll')
    const page = await host.open('/posts/1', { viewport: { width: 700, height: 500 } })
    const button = page.locator('.lazycomments-button')
    const height = () => page.locator('lazy-comments').evaluate((element) => element.clientHeight)
    expect([await button.isVisible(), await height()]).toEqual([true, 500])
    await page.emulateMedia({ media: 'print' })
    expect([await button.isVisible(), (await height()) < 150]).toEqual([false, true])
    host.failures.push(404)
    const without = await host.open('/posts/1')
    await without.evaluate('dispatchEvent(new Event("beforeprint"))')
    const address = without.getByText(`Comments: ${host.origin}/posts/1?comments=all#comments`)
    expect(await address.isVisible()).toBe(false)
    await without.emulateMedia({ media: 'print' })
    expect(await address.isVisible()).toBe(true)
    await without.evaluate('dispatchEvent(new Event("beforeprint"))')
    await commentsLoaded(without)
    expect(await address.isVisible()).toBe(false)
  })
})
