import type { BrowserContext, Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commentsLoaded, seenBy, watch } from '../../support/chromium.ts'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import { voices } from '../../support/comments-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { IS_WHOLE_MATRIX } from '../../support/page-faults.ts'

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

describe.each(WIDTHS)('at %i px nothing moves (cumulative layout shift 0)', (width) => {
  const still = async (path: string, act?: (page: Page) => Promise<unknown>) =>
    expect(await loadBy(width, path, act)).toEqual({ path, shift: 0 })

  test.each(['scroll', 'click'])('with the method %s, when a hash or a link loads the comments', async (method) => {
    await host.comments.settings.update({ load_method: method, show_loader: true })
    for (const space of [3000, 100]) {
      for (const hash of ['comment-1', 'comment-60', 'respond', 'comments', 'comment-999']) {
        await still(`/posts/2?space=${space}#${hash}`)
      }
    }
    await still('/posts/3#comment-1000')
    // Where the comments are not so near that scrolling could load them before the hash does.
    const space = method === 'scroll' ? 3000 : 100
    await still(`/posts/2?space=${space}`, (page) => page.evaluate("void (location.hash = 'comment-60')"))

    // The answer is there before the browser has drawn that it went to the hash.
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

  test.each(['scroll', 'click'])('with the method %s, when loading fails and a retry succeeds', async (method) => {
    await host.comments.settings.update({ load_method: method, show_loader: true })
    for (const path of [`/posts/1?space=${method === 'scroll' ? 3000 : 100}#comment-17`, '/posts/1?space=100']) {
      host.failures.push(404)
      const page = await open(width, path)
      if (!path.includes('#')) await slowly(page)
      const button = page.locator('.lazycomments-button')
      const isRetried = !path.includes('#')
      if (method === 'click' && isRetried) await button.click()
      await page.getByText('Comments could not be loaded.').waitFor()
      expect(await shiftOf(page), path).toBe(0)
      if (isRetried) {
        await button.click()
        await commentsLoaded(page)
        expect(await shiftOf(page), path).toBe(0)
      }
      await page.close()
    }
  })

  test('when scrolling loads the comments, or they are in view from the start', async () => {
    await host.comments.settings.update({ load_method: 'scroll' })
    for (const path of ['/posts/1', '/posts/3']) {
      await still(path, (page) => page.evaluate('scrollTo(0, document.querySelector("#space").clientHeight - 600)'))
      await still(path, (page) => page.evaluate('scrollTo(0, document.body.scrollHeight)'))
    }
    await still('/posts/1?space=100')
  })
})
