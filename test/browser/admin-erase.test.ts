import { expect, test } from 'vitest'
import { startAdminLab } from '../support/admin-lab.ts'
import { startChromium } from '../support/chromium.ts'
import { createCrowd } from '../support/crowd.ts'
import { forThisFile } from '../support/for-this-file.ts'
import { faultsOf } from '../support/page-faults.ts'
import { createRestUsers } from '../support/rest-users.ts'

const chromium = forThisFile(() => startChromium())

test('a person is erased from their menu, after a dialog that shows what happens', async () => {
  const { store, sessionStore, users, host } = await createCrowd(createRestUsers(), { people: 3, sessions: 2 })
  const lab = await startAdminLab({ users, host, sessionStore, sessmgr: { store, directory: true } })
  const page = await lab.open(chromium, '/sessions')
  const row = page.getByRole('row').filter({ hasText: 'MANY' })
  const open = async () => {
    await row.getByRole('button', { name: 'Actions for MANY' }).click()
    await page.getByRole('menuitem', { name: 'Erase…' }).click()
  }
  const dialog = page.getByRole('alertdialog', { name: 'Erase MANY?' })

  await open()
  await dialog.getByText('This cannot be undone.').waitFor()
  await dialog.getByText('The account itself stays.').waitFor()
  expect(await faultsOf(page, 'admin-erase', [360, 1280])).toEqual([])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  await row.waitFor()

  await open()
  const erase = dialog.getByRole('button', { name: 'Erase', exact: true })
  expect(await erase.isDisabled()).toBe(true)
  await dialog.getByLabel('To confirm, type').fill('many')
  await erase.click()
  await page.getByText('Erased MANY.').first().waitFor()
  expect(await lab.limiter.sessions.count(7)).toBe(0)
  const { people } = await store.people.page({ sort: 'recent', limit: 10 })
  expect(people.map(({ userId }) => userId)).not.toContain(7)
  await page.close()
  await lab.close()
})
