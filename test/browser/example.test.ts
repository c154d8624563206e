import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Chromium, startChromium } from '../support/chromium.ts'
import { ExampleProcess } from '../support/example-process.ts'

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

test.each([360, 1280])('a comment can be posted from the form that was loaded, at %i px', async (width) => {
  const context = await chromium.visitor({ viewport: { width, height: 740 } })
  const page = await context.newPage()
  await page.goto(`${example.origin}/posts/1#respond`)
  await page.getByLabel('Your name').fill(`Ann ${width}`)
  await page.getByLabel('Your comment').fill('Read on a real page.')
  await page.getByRole('button', { name: 'Post the comment' }).click()
  const posted = page.locator('.comment', { hasText: `Ann ${width}` })
  await posted.waitFor()
  expect(await posted.evaluate((comment) => document.activeElement === comment)).toBe(true)
  await page.screenshot({ path: `test-output/post-${width}.png` })
})
