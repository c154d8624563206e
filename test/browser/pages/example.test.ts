import { mkdirSync } from 'node:fs'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Chromium, commentsLoaded, focused, seenBy, startChromium, visit } from '../../support/chromium.ts'
import { ExampleProcess } from '../../support/example-process.ts'
import { axe } from '../../support/page-faults.ts'

let chromium: Chromium
let example: ExampleProcess
beforeAll(async () => {
  mkdirSync('test-output', { recursive: true })
  chromium = await startChromium()
  example = await ExampleProcess.start({ SESSMGR_MAXIMUM: '3' })
})
afterAll(async () => {
  await chromium?.close()
  await example?.stop()
})

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await visit(chromium, `${example.origin}${path}`, options)
  onTestFinished(() => page.context().close())
  return page
}

const scrollToEnd = (page: Page) => page.evaluate('scrollTo(0, document.body.scrollHeight)')

async function signIn(page: Page, login: string): Promise<void> {
  await page.getByLabel('User name or e-mail').fill(login)
  await page.getByLabel('Password').fill(`${login}-password`)
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
}

async function post(page: Page, text: string) {
  await page.getByLabel('Your comment').fill(text)
  await page.getByRole('button', { name: 'Post the comment' }).click()
  const posted = page.locator('.comment', { hasText: text })
  await posted.waitFor()
  await expect.poll(async () => (await focused(page)) === (await posted.getAttribute('id'))).toBe(true)
  return posted
}

test('the built package serves the admin screen: a setting is changed and a user signed out', async () => {
  const alice = await example.signedIn('alice')
  const page = await open('/admin')
  expect(new URL(page.url()).pathname).toBe('/login')
  await signIn(page, 'admin')
  await page.goto(`${example.origin}/admin/settings`)
  await page.getByLabel('Active Logins Limit').fill('2')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Settings saved.').first().waitFor()
  await page.getByRole('link', { name: 'Force Logout' }).click()
  await page.getByLabel('User', { exact: true }).fill('alice')
  await page.getByRole('button', { name: 'Force Logout', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('Alice is signed out everywhere.').first().waitFor()
  expect(example.actions('sessmgr_destroy_all_sessions')).toMatchObject([{ args: [2] }])
  expect((await alice.get('/me')).status).toBe(401)
  await page.reload()
  await expect.poll(() => page.getByLabel('Active Logins Limit').inputValue()).toBe('2')
  expect((await seenBy(page)).violations).toEqual([])
})

test('a comment is posted from the form that was loaded, by a guest at 360 px and by a user under the own name', async () => {
  const guest = await open('/posts/1#respond', { viewport: { width: 360, height: 740 } })
  await guest.getByLabel('Your name').fill('Ann')
  await post(guest, 'Read on a real page.')
  const page = await open('/login')
  await signIn(page, 'alice')
  await page.getByText('Signed in as alice').waitFor()
  await page.goto(`${example.origin}/posts/6`)
  await scrollToEnd(page)
  await commentsLoaded(page)
  const named = (await page.locator('#respond strong').textContent()) ?? ''
  expect(named).toMatch(/alice/i)
  await expect.poll(() => page.getByLabel('Your name').count()).toBe(0)
  const posted = await post(page, 'Said by name.')
  expect(await posted.locator('strong').textContent()).toBe(named)
})

test.each([
  [1, 'classic theme', 20, 1],
  [6, 'block theme', 5, 1],
  [7, 'closed comments', 4, 0],
  [8, 'a thousand comments', 1000, 1],
])('post %i, %s: all comments load on scroll, nothing moves, axe finds nothing', async (id, _name, least, forms) => {
  const page = await open(`/posts/${id}`)
  await scrollToEnd(page)
  await commentsLoaded(page)
  const comments = page.locator('article.comment')
  const count = await comments.count()
  expect(count).toBeGreaterThanOrEqual(least)
  await expect.poll(() => page.locator('form#respond').count()).toBe(forms)
  if (forms === 0) await expect.poll(() => page.getByText('Comments are closed.').count()).toBe(1)
  expect(await page.getByRole('status').textContent()).toBe(`${count} comments loaded`)
  await expect.poll(() => page.locator('#comments').count()).toBe(1)
  const { shift, violations } = await seenBy(page)
  expect([shift, violations]).toEqual([0, []])
  expect(await axe(page)).toEqual([])
  if (id !== 8) return

  const last = (await comments.last().getAttribute('id')) ?? ''
  const deep = await open(`/posts/8#${last}`)
  await commentsLoaded(deep)
  expect((await seenBy(deep)).shift).toBe(0)
  await expect.poll(() => focused(deep)).toBe(last)
  const { top, bottom } = await deep.locator(`#${last}`).evaluate((element) => element.getBoundingClientRect().toJSON())
  expect([top >= 0, bottom <= 720]).toEqual([true, true])
})

test('axe finds nothing on the other pages', async () => {
  const page = await open('/')
  for (const path of ['/', '/login', '/posts/1', '/posts/2', '/posts/5', '/none']) {
    await page.goto(`${example.origin}${path}`)
    expect(await axe(page), path).toEqual([])
  }
})

test('rule 35: without JavaScript, a link shows the whole thread, and its form works', async () => {
  for (const id of [1, 6]) {
    const page = await open(`/posts/${id}`, { javaScriptEnabled: false })
    await page.getByRole('link', { name: 'Load Comments' }).click()
    expect(page.url()).toBe(`${example.origin}/posts/${id}?comments=all#comments`)
    const before = await page.locator('article.comment').count()
    expect(before).toBeGreaterThanOrEqual(4)
    await page.getByLabel('Your name').fill('Plain reader')
    await page.getByLabel('Your comment').fill(`No script, post ${id}.`)
    const answer = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('button', { name: 'Post the comment' }).click()
    expect((await answer).status()).toBe(302)
    const [, own] = /#(comment-\d+)$/.exec((await answer).headers().location ?? '') ?? []
    await page.getByRole('link', { name: 'Load Comments' }).click()
    expect(await page.locator(`#${own}`).textContent()).toContain(`No script, post ${id}.`)
    expect(await page.locator('article.comment').count()).toBe(before + 1)
  }
})
