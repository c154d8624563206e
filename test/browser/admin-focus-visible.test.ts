import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { startAdminHost } from '../support/admin-host.ts'
import { forThisFile } from '../support/for-this-file.ts'

const host = forThisFile(() => startAdminHost())

/** How much of the element in focus the save bar covers, in pixels; undefined outside the content. */
function covered(): { name: string; hidden: number } | undefined {
  const element = document.activeElement
  const bar = document.querySelector('.save-bar')
  if (!bar || !element?.closest('main > :not(.save-bar)')) return undefined
  const [box, over] = [element.getBoundingClientRect(), bar.getBoundingClientRect()]
  const hidden = Math.min(box.bottom, over.bottom) - Math.max(box.top, over.top)
  const isBeside = box.right <= over.left || box.left >= over.right
  const name = element.id || element.textContent || element.tagName
  return { name, hidden: isBeside || hidden <= 0 ? 0 : hidden }
}

/** Makes the first field of a tab dirty, from where Tab then goes on. */
async function edit(page: Page): Promise<void> {
  const limit = page.getByLabel('Active Logins Limit')
  const onClick = page.getByRole('radio', { name: 'On button click' })
  await limit.or(onClick).waitFor()
  if ((await limit.count()) > 0) await limit.fill('77')
  else await onClick.press('Space')
  await page.locator('.save-bar').waitFor()
}

test.each([
  [360, 740],
  [1280, 800],
])('at %i by %i no field that takes the focus is under the save bar, on any tab', async (width, height) => {
  const page = await host.open('/comments', { viewport: { width, height } })
  await page.getByRole('heading', { name: 'Loading behavior' }).waitFor()
  for (const way of ['Tab', 'Shift+Tab']) {
    for (const path of ['/settings', '/comments']) {
      await page.goto(`${host.origin}/admin${path}`)
      await edit(page)
      if (way === 'Shift+Tab') await page.getByRole('button', { name: 'Discard' }).focus()
      const seen: string[] = []
      for (let presses = 0; presses < 30; presses++) {
        await page.keyboard.press(way)
        const here = await page.evaluate(covered)
        if (!here) continue
        seen.push(here.name)
        const hidden = async () => (await page.evaluate(covered))?.hidden
        await expect.poll(hidden, { message: `${path}, ${way}: ${here.name}` }).toBe(0)
      }
      expect(seen.length).toBeGreaterThan(4)
      page.once('dialog', (dialog) => void dialog.accept())
    }
  }
})

test('the field whose edit brings the bar is not under it', async () => {
  const page = await host.open('/comments', { viewport: { width: 360, height: 740 } })
  const toggles = page.getByRole('switch')
  await toggles.first().waitFor()
  for (const [index, toggle] of (await toggles.all()).entries()) {
    await toggle.evaluate((element) => window.scrollBy(0, element.getBoundingClientRect().bottom - innerHeight + 8))
    await toggle.press('Space')
    await page.locator('.save-bar').waitFor()
    await expect.poll(() => page.evaluate(covered), { message: `switch ${index}` }).toMatchObject({ hidden: 0 })
    await page.getByRole('button', { name: 'Discard' }).click()
  }
})
