import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Chromium, commentsLoaded, focused, seenBy, startChromium, visit } from '../support/chromium.ts'
import { ExampleProcess } from '../support/example-process.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

let chromium: Chromium
let example: ExampleProcess
beforeAll(async () => {
  mkdirSync('test-output', { recursive: true })
  chromium = await startChromium()
  example = await ExampleProcess.start()
})
afterAll(async () => {
  await chromium?.close()
  await example?.stop()
})

const open = (path: string, options = {}) => visit(chromium, `${example.origin}${path}`, options)
const scrollToEnd = (page: Page) => page.evaluate('scrollTo(0, document.body.scrollHeight)')

test.each([360, 1280])('a comment can be posted from the form that was loaded, at %i px', async (width) => {
  const page = await open('/posts/1#respond', { viewport: { width, height: 740 } })
  await page.getByLabel('Your name').fill(`Ann ${width}`)
  await page.getByLabel('Your comment').fill('Read on a real page.')
  await page.getByRole('button', { name: 'Post the comment' }).click()
  const posted = page.locator('.comment', { hasText: `Ann ${width}` })
  await posted.waitFor()
  await expect.poll(() => posted.evaluate((comment) => document.activeElement === comment)).toBe(true)
  await page.screenshot({ path: `test-output/post-${width}.png` })
  await page.context().close()
})

test('a reader who is signed in finds the form with the own name and posts a comment after loading', async () => {
  const page = await open('/login')
  await page.getByLabel('User name or e-mail').fill('alice')
  await page.getByLabel('Password').fill('alice-password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Signed in as alice').waitFor()
  await page.goto(`${example.origin}/posts/6`)
  await scrollToEnd(page)
  await commentsLoaded(page)
  const named = (await page.locator('#respond strong').textContent()) ?? ''
  expect(named).toMatch(/alice/i)
  await expect.poll(() => page.getByLabel('Your name').count()).toBe(0)
  await page.getByLabel('Your comment').fill('Said by name.')
  await page.getByRole('button', { name: 'Post the comment' }).click()
  const posted = page.locator('.comment', { hasText: 'Said by name.' })
  await posted.waitFor()
  expect(await posted.locator('strong').textContent()).toBe(named)
  await expect.poll(() => focused(page)).toBe(await posted.getAttribute('id'))
  await page.context().close()
})

test.each(['light', 'dark'] as const)(
  'the edge of a field stands out from its ground, in the %s',
  async (colorScheme) => {
    const page = await open('/login', { colorScheme })
    const [edge, ground] = await page.getByLabel('User name or e-mail').evaluate((field) => {
      const { borderTopColor, backgroundColor } = getComputedStyle(field)
      return [borderTopColor, backgroundColor].map((colour) => {
        const linear = (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => {
          const share = Number(part) / 255
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
        })
        const [red = 0, green = 0, blue = 0] = linear
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
      })
    })
    const [dark = 0, light = 0] = [edge ?? 0, ground ?? 0].sort((one, other) => one - other)
    expect((light + 0.05) / (dark + 0.05)).toBeGreaterThanOrEqual(3)
    await page.context().close()
  },
)

describe.each([
  [1, 'classic theme', 20, 1],
  [6, 'block theme', 5, 1],
  [7, 'closed comments', 4, 0],
  [8, 'a thousand comments', 1000, 1],
])('post %i, %s', (post, _name, least, forms) => {
  test('loads all its comments on scroll, moves nothing, says how many, and axe finds nothing', async () => {
    const page = await open(`/posts/${post}`)
    await scrollToEnd(page)
    await commentsLoaded(page)
    const count = await page.locator('article.comment').count()
    expect(count).toBeGreaterThanOrEqual(least)
    await expect.poll(() => page.locator('form#respond').count()).toBe(forms)
    if (forms === 0) await expect.poll(() => page.getByText('Comments are closed.').count()).toBe(1)
    expect(await page.getByRole('status').textContent()).toBe(`${count} comments loaded`)
    await expect.poll(() => page.locator('#comments').count()).toBe(1)
    const { shift, violations } = await seenBy(page)
    expect([shift, violations]).toEqual([0, []])
    await page.addScriptTag({ path: AXE })
    const found = await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
    expect(found).toEqual([])
    await page.context().close()
  })
})

test.each(['/', '/login', '/posts/1', '/posts/2', '/posts/5', '/none'])('axe finds nothing on %s', async (path) => {
  const page = await open(path)
  await page.addScriptTag({ path: AXE })
  const found = await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')
  expect(found).toEqual([])
  await page.context().close()
})

test('a deep link to the last of a thousand comments stands at it', async () => {
  const page = await open('/posts/8?comments=all')
  const last = (await page.locator('article.comment').last().getAttribute('id')) ?? ''
  await page.goto(`${example.origin}/posts/8#${last}`)
  await commentsLoaded(page)
  expect((await seenBy(page)).shift).toBe(0)
  await expect.poll(() => focused(page)).toBe(last)
  const isInView = await page.locator(`#${last}`).evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect()
    return top >= 0 && bottom <= innerHeight
  })
  expect(isInView).toBe(true)
  await page.context().close()
})

describe('without JavaScript', () => {
  test.each([
    [1, 20],
    [6, 5],
  ])('rule 35: the link of post %i shows the whole thread, and its form works', async (post, least) => {
    const page = await open(`/posts/${post}`, { javaScriptEnabled: false })
    await page.getByRole('link', { name: 'Load Comments' }).click()
    expect(page.url()).toBe(`${example.origin}/posts/${post}?comments=all#comments`)
    const before = await page.locator('article.comment').count()
    expect(before).toBeGreaterThanOrEqual(least)
    await page.getByLabel('Your name').fill('Plain reader')
    await page.getByLabel('Your comment').fill(`No script, post ${post}.`)
    const answer = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Post the comment' }).click()
    const { status, location } = { status: (await answer).status(), location: (await answer).headers().location ?? '' }
    expect(status).toBe(302)
    const [, id] = /#(comment-\d+)$/.exec(location) ?? []
    expect(id).toBeDefined()
    await page.getByRole('link', { name: 'Load Comments' }).click()
    expect(await page.locator(`#${id}`).textContent()).toContain(`No script, post ${post}.`)
    await expect.poll(() => page.locator('article.comment').count()).toBe(before + 1)
    await page.context().close()
  })
})
