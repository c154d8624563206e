import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commentsLoaded, seenBy, watch } from '../support/chromium.ts'
import { startCommentsBrowser } from '../support/comments-browser.ts'
import { voices } from '../support/comments-host.ts'
import { forThisFile } from '../support/for-this-file.ts'
import { IS_WHOLE_MATRIX } from '../support/page-faults.ts'

const WIDTHS = IS_WHOLE_MATRIX ? [360, 1440] : [360]

const host = forThisFile(() => startCommentsBrowser())
beforeAll(() => {
  host.posts.set(2, { id: 2, status: 'published', comments: voices(60) })
  host.posts.set(3, { id: 3, status: 'published', comments: voices(1000) })
})
beforeEach(() => {
  host.failures.length = 0
})

const windows = new Map<number, Promise<BrowserContext>>()

/** Makes an empty page of its own in the window of this width. */
async function blank(width: number): Promise<Page> {
  const context = windows.get(width) ?? host.chromium.visitor({ viewport: { width, height: 740 } }).then(watched)
  windows.set(width, context)
  return (await context).newPage()
}

/** Opens a page of its own in the window of this width. */
async function open(width: number, path: string): Promise<Page> {
  const page = await blank(width)
  await page.goto(`${host.origin}${path}`)
  return page
}

const watched = async (context: BrowserContext) => {
  await watch(context)
  return context
}

const shiftOf = async (page: Page) => (await seenBy(page)).shift

/** Slow answers, so that the pardon for what follows a click within half a second is over. */
async function slowly(page: Page): Promise<void> {
  await page.route('**/lazycomments/v1/comments*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 600))
    await route.continue()
  })
}

/** The layout shift of a visit that loads the comments. */
async function loadBy(width: number, path: string, act?: (page: Page) => Promise<unknown>) {
  const page = await open(width, path)
  await act?.(page)
  await commentsLoaded(page)
  const shift = await shiftOf(page)
  await page.close()
  return { path, shift }
}

test('a page that moves is seen to move', async () => {
  const page = await open(1440, '/posts/1?space=100')
  await page.locator('#space').evaluate((space) => space.style.setProperty('height', '300px'))
  expect(await shiftOf(page)).toBeGreaterThan(0.05)
  await page.close()
})

describe.each(['scroll', 'click'])('method %s', (method) => {
  beforeEach(() => host.comments.settings.update({ load_method: method, show_loader: true }))
  // Where the comments are not so near that scrolling could load them before what a test is about does.
  const space = method === 'scroll' ? 3000 : 100

  describe.each(WIDTHS)('at %i px nothing moves (cumulative layout shift 0)', (width) => {
    test.each([3000, 100])('when a deep link loads the comments, below %i px of text', async (space) => {
      const hashes = ['comment-1', 'comment-17', 'comment-60', 'respond', 'comments', 'comment-999']
      for (const path of hashes.map((hash) => `/posts/2?space=${space}#${hash}`)) {
        expect(await loadBy(width, path)).toEqual({ path, shift: 0 })
      }
    })

    test('when the hash comes later, and when there are a thousand comments', async () => {
      const path = `/posts/2?space=${space}`
      const later = await loadBy(width, path, (page) => page.evaluate("void (location.hash = 'comment-60')"))
      expect(later).toEqual({ path, shift: 0 })
      const last = '/posts/3#comment-1000'
      expect(await loadBy(width, last)).toEqual({ path: last, shift: 0 })
    })

    test('when loading fails and a retry succeeds', async () => {
      host.failures.push(404)
      const page = await open(width, '/posts/1?space=100')
      await slowly(page)
      const button = page.locator('.lazycomments-button')
      if (method === 'click') await button.click()
      await page.getByText('Comments could not be loaded.').waitFor()
      expect(await shiftOf(page)).toBe(0)
      await button.click()
      await commentsLoaded(page)
      expect(await shiftOf(page)).toBe(0)
      await page.close()
    })

    test('when the answer is there before the browser has drawn that it went to the hash', async () => {
      const page = await open(width, '/posts/2?space=3000')
      await page.evaluate(async () => {
        const answer = await fetch(document.querySelector('lazy-comments')?.getAttribute('src') as string)
        const body = await answer.text()
        window.fetch = async () => {
          document.querySelector('#comments')?.scrollIntoView()
          return new Response(body, answer)
        }
        history.replaceState(null, '', '#comments')
        dispatchEvent(new PopStateEvent('popstate'))
      })
      await commentsLoaded(page)
      expect(await shiftOf(page)).toBe(0)
      await page.close()
    })

    test('when loading for a deep link fails', async () => {
      host.failures.push(404)
      const page = await open(width, `/posts/1?space=${space}#comment-17`)
      await page.getByText('Comments could not be loaded.').waitFor()
      expect(await shiftOf(page)).toBe(0)
      await page.close()
    })
  })
})

describe.each(WIDTHS)('at %i px nothing moves (cumulative layout shift 0)', (width) => {
  beforeEach(() => host.comments.settings.update({ load_method: 'scroll' }))

  test.each([
    ['to the comments', 'scrollTo(0, document.querySelector("#space").clientHeight - 600)'],
    ['to the end of the page', 'scrollTo(0, document.body.scrollHeight)'],
  ])('when scrolling %s loads them', async (_where, scroll) => {
    for (const path of ['/posts/1', '/posts/3']) {
      expect(await loadBy(width, path, (page) => page.evaluate(scroll))).toEqual({ path, shift: 0 })
    }
  })

  test('when the comments are in view from the start', async () => {
    const path = '/posts/1?space=100'
    expect(await loadBy(width, path)).toEqual({ path, shift: 0 })
  })
})
