import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { commentsLoaded, focused, watch } from '../../support/chromium.ts'
import { startCommentsBrowser } from '../../support/comments-browser.ts'
import { voices } from '../../support/comments-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'

const GONE = 'This comment no longer exists.'

const host = forThisFile(() => startCommentsBrowser())
beforeAll(async () => void (await host.comments.settings.set('load_method', 'click')))
beforeEach(() => {
  host.requests.length = 0
})

/** Waits until what has changed has been drawn, and tells whether the element with the focus is in view. */
function isFocusInView(page: Page): Promise<boolean> {
  return page.evaluate(async () => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
    const { top, bottom } = document.activeElement?.getBoundingClientRect() ?? { top: -1, bottom: -1 }
    return bottom > 0 && top >= -1 && top < innerHeight
  })
}

test('rule 36: a hash loads the comments at once, in one request; its target is in view and has the focus', async () => {
  for (const [hash, id] of [
    ['comment-17', 'comment-17'],
    ['comment-20', 'comment-20'],
    ['respond', 'respond'],
    ['comments', 'comments'],
    ['%63omment-%31%37', 'comment-17'],
  ] as const) {
    host.requests.length = 0
    const page = await host.open(`/posts/1#${hash}`)
    await commentsLoaded(page)
    await expect.poll(() => focused(page), { message: hash }).toBe(id)
    expect([await isFocusInView(page), host.requests.length], hash).toEqual([true, 1])
    // A hash that changes once the comments are there moves the focus along.
    await page.evaluate("void (location.hash = 'comment-3')")
    await expect.poll(() => focused(page)).toBe('comment-3')
    expect([await isFocusInView(page), host.requests.length], hash).toEqual([true, 1])
    // It is tinted, without a frame around it.
    const look = await page.locator('#comment-3').evaluate((element) => {
      const { outlineStyle, backgroundColor } = getComputedStyle(element)
      return [outlineStyle, backgroundColor]
    })
    expect(look).toEqual(['none', 'rgba(136, 136, 136, 0.2)'])
    await page.close()
  }
})

test('the target is in view one frame after the comments were put in', async () => {
  const context = await host.chromium.visitor()
  await watch(context)
  await context.addInitScript(() => {
    document.addEventListener('lazycomments:loaded', () => {
      const tops: number[] = []
      const note = () => {
        tops.push(document.getElementById('comment-3')?.getBoundingClientRect().top ?? Number.NaN)
        if (tops.length < 3) requestAnimationFrame(note)
        else Object.assign(window, { tops })
      }
      requestAnimationFrame(note)
    })
  })
  const page = await context.newPage()
  await page.goto(`${host.origin}/posts/1#comment-3`)
  await page.waitForFunction(() => 'tops' in window)
  // The first frame draws the comments, the next one stands at the target, a line below the edge.
  expect((await page.evaluate<number[]>('window.tops'))[2]).toBeCloseTo(16, 0)
  await context.close()
})

test('a link on the page and a hash that comes later load, too; the same link again retries what has failed', async () => {
  host.failures.push(404)
  const page = await host.open('/posts/1')
  await page.evaluate("void (location.hash = 'elsewhere')")
  const link = page.getByRole('link', { name: 'What reader 17 says' })
  await link.click()
  await page.getByText('Comments could not be loaded.').waitFor()
  await link.click()
  await commentsLoaded(page)
  expect([await focused(page), await isFocusInView(page), host.requests.length]).toEqual(['comment-17', true, 2])
  const other = await host.open('/posts/1')
  await other.evaluate("void (location.hash = 'comment-3')")
  await commentsLoaded(other)
  expect([await focused(other), await isFocusInView(other)]).toEqual(['comment-3', true])
})

test('a target that the theme hides leaves the reader where they are', async () => {
  const page = await host.open('/posts/1')
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet()
    sheet.replaceSync('#comment-3 { display: none } body { padding-top: 3000px }')
    document.adoptedStyleSheets.push(sheet)
    scrollTo(0, 300)
    location.hash = 'comment-3'
  })
  await commentsLoaded(page)
  await isFocusInView(page)
  await isFocusInView(page)
  expect(await page.evaluate('scrollY')).toBe(300)
})

test('a comment is not called gone while another post on the page may bring it', async () => {
  host.posts.set(1, { id: 1, status: 'published', comments: voices(20) })
  host.posts.set(2, { id: 2, status: 'published', comments: voices(40) })
  const page = await host.open('/posts/1?twice')
  await page.locator('.lazycomments-button').first().click()
  await commentsLoaded(page)
  await page.evaluate("void (location.hash = 'comment-33')")
  await page.locator('lazy-comments[data-loaded=true]').nth(1).waitFor({ state: 'attached' })
  expect(await page.getByRole('status').allTextContents()).toEqual(['20 comments loaded', '40 comments loaded'])
  await expect.poll(() => focused(page)).toBe('comment-33')
})

test('a hash that names nothing is told to be gone, visibly; no focus moves, and nothing breaks', async () => {
  host.posts.set(3, { id: 3, status: 'published', comments: voices(2) })
  for (const [hash, words, focus] of [
    ['comment-999', GONE, 'BODY'],
    ['comment-%E0%A4%A', '2 comments loaded', 'H2'],
  ] as const) {
    const page = await host.open(`/posts/3#${hash}`)
    if (focus === 'H2') await page.locator('.lazycomments-button').click()
    await commentsLoaded(page)
    expect(await page.getByRole('status').textContent()).toBe(words)
    await expect.poll(() => focused(page)).toBe(focus)
    const [width, clip] = await page
      .getByRole('status')
      .evaluate((note) => [note.getBoundingClientRect().width, getComputedStyle(note).clipPath] as const)
    if (words === GONE) expect(width).toBeGreaterThan(100)
    else expect(clip).toContain('inset')
    await page.evaluate("void (location.hash = 'comment-998')")
    await expect.poll(() => page.getByRole('status').textContent()).toBe(GONE)
  }
})
