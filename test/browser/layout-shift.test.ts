import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Chromium, seenBy, startChromium, watch } from '../support/chromium.ts'
import { type CommentsHost, startCommentsHost, voices } from '../support/comments-host.ts'

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
  await host.comments.settings.update({ load_method: 'scroll', show_loader: true })
})

const loaded = (page: Page) => page.locator('lazy-comments[data-loaded=true]').waitFor({ state: 'attached' })

async function visit(width: number, path: string): Promise<Page> {
  const context = await chromium.visitor({ viewport: { width, height: 740 } })
  await watch(context)
  const page = await context.newPage()
  await page.goto(`${host.origin}${path}`)
  return page
}

/** Slow answers, so that the pardon for what follows a click within half a second is over. */
async function slowly(page: Page): Promise<void> {
  await page.route('**/lazycomments/v1/comments*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 600))
    await route.continue()
  })
}

describe.each([360, 1440])('at %i px nothing moves (cumulative layout shift 0)', (width) => {
  test('when scrolling loads the comments', async () => {
    const page = await visit(width, '/posts/1')
    await page.locator('#space').evaluate((space) => window.scrollTo(0, space.clientHeight - 600))
    await loaded(page)
    expect((await seenBy(page)).shift).toBe(0)
    await page.context().close()
  })

  test('when the comments are in view from the start', async () => {
    const page = await visit(width, '/posts/1?space=100')
    await loaded(page)
    expect((await seenBy(page)).shift).toBe(0)
    await page.context().close()
  })

  test('when a click loads them, after a click that failed', async () => {
    await host.comments.settings.set('load_method', 'click')
    const page = await visit(width, '/posts/1?space=100')
    await slowly(page)
    host.failures.push(404)
    const button = page.locator('.lazycomments-button')
    await button.click()
    await page.getByRole('alert').waitFor()
    expect((await seenBy(page)).shift).toBe(0)
    await button.click()
    await loaded(page)
    expect((await seenBy(page)).shift).toBe(0)
    await page.context().close()
  })

  test('when loading on scroll fails, and a retry succeeds', async () => {
    host.failures.push(404)
    const page = await visit(width, '/posts/1?space=100')
    await page.getByRole('alert').waitFor()
    expect((await seenBy(page)).shift).toBe(0)
    await page.locator('.lazycomments-button').click()
    await loaded(page)
    expect((await seenBy(page)).shift).toBe(0)
    await page.context().close()
  })

  test('when a deep link loads them', async () => {
    host.posts.set(2, { id: 2, status: 'published', comments: voices(60) })
    const page = await visit(width, '/posts/2#comment-17')
    await loaded(page)
    expect((await seenBy(page)).shift).toBe(0)
    await page.context().close()
  })
})
