import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { commentsLoaded } from '../../support/chromium.ts'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import { voices } from '../../support/comments-host.ts'
import { deferred } from '../../support/deferred.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const MANY = 9

const host = forThisFile(() => startCommentsBrowser())
beforeAll(async () => {
  host.posts.set(MANY, { id: MANY, status: 'published', comments: voices(2000) })
  await host.comments.settings.set('load_method', 'scroll')
})

/** Opens a post and reads its comments, down to `top`. */
async function readTo(path: string, top: number): Promise<Page> {
  const page = await host.open(path)
  await page.mouse.wheel(0, 1500)
  await commentsLoaded(page)
  await page.evaluate((to) => scrollTo(0, to), top)
  await expect.poll(() => scrolled(page)).toBe(top)
  return page
}

async function scrolled(page: Page): Promise<number> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  return page.evaluate(() => Math.round(scrollY))
}

const WAYS = {
  reload: (page: Page) => page.reload(),
  'Back without the cache of the browser': async (page: Page) => {
    await page.goto(`${host.origin}/nonce`)
    await page.goBack()
  },
}
const POSTS = { '20 comments': ['/posts/1?space=2000', 2600], '2,000 comments': [`/posts/${MANY}?space=2000`, 50_000] }

test('after a reload and after Back, readers are where they were, in short and in long threads', async () => {
  for (const [path, top] of Object.values(POSTS) as [string, number][]) {
    for (const [name, way] of Object.entries(WAYS)) {
      const page = await readTo(path, top)
      await way(page)
      await commentsLoaded(page)
      expect(await scrolled(page), `${name} ${path}`).toBe(top)
      // A second time, and from a hash, which only moves the focus.
      await page.evaluate(() => location.replace('#comment-2'))
      await page.evaluate((to) => scrollTo(0, to), top - 100)
      await way(page)
      await commentsLoaded(page)
      expect(await scrolled(page), `${name} ${path}`).toBe(top - 100)
      await page.close()
    }
  }
})

test('a reader who moves before the comments arrive is not moved back', async () => {
  const page = await readTo('/posts/1?space=2000', 2600)
  const answer = deferred()
  const { render } = host
  host.render = async (post, reader) => {
    await answer.promise
    return render(post, reader)
  }
  await page.reload({ waitUntil: 'load' })
  await page.locator('lazy-comments[aria-busy=true]').waitFor()
  await page.mouse.wheel(0, -10_000)
  await expect.poll(() => scrolled(page)).toBe(0)
  answer.resolve()
  host.render = render
  await commentsLoaded(page)
  expect(await scrolled(page)).toBe(0)
})

test('a new visit to the same post begins at its top', async () => {
  const page = await readTo('/posts/1?space=600', 1500)
  await page.goto(`${host.origin}/nonce`)
  await page.goto(`${host.origin}/posts/1?space=600`)
  await commentsLoaded(page)
  expect(await scrolled(page)).toBe(0)
})
