import { expect, test } from 'vitest'
import { startAdminLab } from '../support/admin-lab.ts'
import { seenBy, startChromium } from '../support/chromium.ts'
import { forThisFile } from '../support/for-this-file.ts'
import { faultsOf } from '../support/page-faults.ts'

const chromium = forThisFile(() => startChromium())
const lab = forThisFile(() => startAdminLab({ sessmgr: { directory: true, settings: { maximum: 5 } } }))
const plain = forThisFile(() => startAdminLab({ sessmgr: { settings: { maximum: 5 } } }))

test('lowering the limit says how many people hold more, before and without saving it', async () => {
  for (const login of ['alice', 'alice', 'alice', 'carol', 'carol']) await fetch(`${lab.origin}/sign-in/${login}`)
  const page = await lab.open(chromium)
  const limit = page.getByLabel('Active Logins Limit')
  await limit.fill('2')
  await page.getByText('1 person is over this limit and stays signed in.').waitFor()
  await limit.fill('1')
  await page.getByText('2 people are over this limit. They stay signed in.').waitFor()
  expect(await faultsOf(page, 'admin-over-limit', [360])).toEqual([])
  await limit.fill('3')
  await page.getByText('Nobody is over this limit.').waitFor()
  await limit.fill('1')
  await page.getByRole('button', { name: 'Show them' }).click()
  await page.getByRole('link', { name: 'More than 1 session' }).waitFor()
  await expect.poll(() => page.locator('[data-row] .row-name').allTextContents()).toEqual(['ALICE', 'CAROL'])
  // The edit waits, and nobody asks about it.
  await page.goBack()
  await expect.poll(() => limit.inputValue()).toBe('1')
  expect(await lab.limiter.settings.get()).toMatchObject({ maximum: 5 })
})

test('without a list of people, lowering the limit says what it does, without a number', async () => {
  const page = await plain.open(chromium)
  await page.getByLabel('Active Logins Limit').fill('1')
  await page.getByText('Users with more sessions stay signed in.').waitFor()
  await expect.poll(() => page.getByText('over this limit').count()).toBe(0)
})

test('the settings say who changed them last, and nothing moves when that is known', async () => {
  const page = await plain.open(chromium)
  await page.getByRole('heading', { name: 'General Settings' }).waitFor()
  await expect.poll(() => page.getByText(/^Changed/).count()).toBe(0)
  await page.getByLabel('Active Logins Limit').fill('4')
  await page.getByRole('button', { name: 'Save Changes' }).click()
  await page.getByText('Changed by ADMIN, now').waitFor()
  await plain.limiter.settings.update({ maximum: 3 })
  const later = await plain.open(chromium)
  await later.getByText('Changed now').waitFor()
  expect((await seenBy(later)).shift).toBeLessThan(0.01)
})
