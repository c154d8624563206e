import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Chromium, commentsLoaded, startChromium, visit } from '../support/chromium.ts'
import { ExampleProcess } from '../support/example-process.ts'

let chromium: Chromium
let example: ExampleProcess
beforeAll(async () => {
  chromium = await startChromium()
  example = await ExampleProcess.start()
})
afterAll(async () => {
  await chromium?.close()
  await example?.stop()
})

const NOTICE = 'You are no longer signed in here'

/** A page of somebody who has signed in, and has since been displaced by a login elsewhere. */
async function displaced(login: string, path: string): Promise<Page> {
  const page = await visit(chromium, `${example.origin}/login`)
  await page.getByLabel('User name or e-mail').fill(login)
  await page.getByLabel('Password').fill(`${login}-password`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText(`Signed in as ${login}`).waitFor()
  await page.goto(`${example.origin}${path}`)
  await example.signedIn(login)
  return page
}

test('comments that are fetched, and scripts that ask, leave the notice to the next page', async () => {
  const page = await displaced('bob', '/posts/1')
  await page.evaluate('fetch("/me").then(({ status }) => status)')
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await commentsLoaded(page)
  await page.goto(`${example.origin}/`)
  expect(await page.getByRole('status').textContent()).toContain(NOTICE)
  await page.reload()
  expect(await page.getByText(NOTICE).count()).toBe(0)
  await page.context().close()
})

test('a protected page that redirects leaves the notice to the login page, which leads back', async () => {
  const page = await displaced('admin', '/admin/settings')
  await page.goto(`${example.origin}/admin/settings`)
  await page.getByText('Sign in to open Session Manager.').waitFor()
  expect(await page.getByRole('status').textContent()).toContain(NOTICE)
  await page.getByLabel('User name or e-mail').fill('admin')
  await page.getByLabel('Password').fill('admin-password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${example.origin}/admin/settings`)
  await page.context().close()
})

test('a comment that was being written is still there, and says why it was not posted', async () => {
  const page = await displaced('carol', '/posts/2')
  await page.getByLabel('Your comment').fill('A long thought.')
  await page.getByRole('button', { name: 'Post the comment' }).click()
  await page.getByText('You are no longer signed in here. Add your name').waitFor()
  expect(await page.getByLabel('Your comment').inputValue()).toBe('A long thought.')
  await page.getByLabel('Your name').fill('Carol')
  await page.getByRole('button', { name: 'Post the comment' }).click()
  await page.locator('.comment', { hasText: 'A long thought.' }).waitFor()
  await page.context().close()
})

test('a long name leaves a narrow page as narrow as it is', async () => {
  const page = await visit(chromium, `${example.origin}/`, { viewport: { width: 360, height: 740 } })
  await page.evaluate(
    `document.querySelector('nav').innerHTML = '<span>Signed in as <strong>' + 'x'.repeat(90) + '</strong></span>'`,
  )
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  await page.context().close()
})
