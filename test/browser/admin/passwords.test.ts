import { beforeEach, expect, test } from 'vitest'
import { startAdminLab } from '../../support/admin-lab.ts'
import { seenBy, startChromium } from '../../support/chromium.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import { faultsOf } from '../../support/page-faults.ts'
import { basic } from '../../support/rest-client.ts'

const chromium = forThisFile(() => startChromium())
const lab = forThisFile(() => startAdminLab())
beforeEach(async () => {
  for (const user of [1, 2])
    for (const { id } of await lab.limiter.passwords.list(user)) await lab.limiter.passwords.revoke(user, id)
})

const open = async () => {
  const page = await lab.open(chromium, '/settings?part=passwords')
  return { page, panel: page.getByRole('region', { name: 'Application Passwords' }) }
}

const focusedText = "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent"

test('a password is created by keyboard, shown once, and works; nothing of the page keeps it', async () => {
  const { page, panel } = await open()
  await panel.getByText('There are none yet.').waitFor()
  await panel.getByLabel('Name').fill('  backup ')
  await page.keyboard.press('Enter')
  const box = panel.getByRole('region', { name: 'New password “backup”' })
  await box.getByText('Copy it now. It will not be shown again.').waitFor()
  await expect.poll(() => page.evaluate(focusedText)).toBe('Copy the new password')
  const password = (await box.locator('code').textContent()) as string
  expect(password).toMatch(/^([A-Za-z0-9]{4} ){5}[A-Za-z0-9]{4}$/)
  const settings = (headers: Record<string, string>) => fetch(`${lab.origin}/api/sessmgr/v1/settings`, { headers })
  expect((await settings(basic('admin', password))).status).toBe(200)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT')
  expect(await page.content()).not.toContain(password)
  const kept = await page.evaluate(() =>
    JSON.stringify([localStorage, sessionStorage, history.state, location.href, document.cookie]),
  )
  expect(kept).not.toContain(password)
  await panel.getByText('backup', { exact: true }).waitFor()
  await page.reload()
  await panel.getByText('last used now').waitFor()
  expect(await page.content()).not.toContain(password)
  expect(JSON.stringify(lab.logs)).not.toContain(password)
})

test('a password needs a name; revoking asks first, takes a new one off the page, and keeps the focus there', async () => {
  await lab.limiter.passwords.create(1, 'old')
  const { page, panel } = await open()
  await panel.getByLabel('Name').fill('  ')
  await panel.getByRole('button', { name: 'Create Password' }).click()
  await panel.getByRole('alert').getByText('Enter a name first.').waitFor()
  expect(await lab.limiter.passwords.list(1)).toHaveLength(1)
  const name = '<img src=x onerror=alert(1)> for a nightly backup of everything'
  await panel.getByLabel('Name').fill(name)
  await page.keyboard.press('Enter')
  await panel.getByText('Copy it now').waitFor()
  expect(await faultsOf(page, 'admin-new-password', [360, 768, 1280])).toEqual([])
  const revoke = async (which: string, answer: string) => {
    await panel.getByRole('button', { name: `Revoke “${which}”` }).click()
    await page
      .getByRole('alertdialog', { name: `Revoke “${which}”?` })
      .getByRole('button', { name: answer })
      .click()
  }
  await revoke(name, 'Cancel')
  expect(await lab.limiter.passwords.list(1)).toHaveLength(2)
  await revoke(name, 'Revoke')
  await panel.getByRole('region', { name: /^New password/ }).waitFor({ state: 'detached' })
  await revoke('old', 'Revoke')
  await panel.getByText('There are none yet.').waitFor()
  await expect.poll(() => page.evaluate(focusedText)).toBe('Your passwords')
  expect(await lab.limiter.passwords.list(1)).toEqual([])
  expect((await seenBy(page)).violations).toEqual([])
})

test("another user's passwords are listed and revoked, and none can be created there", async () => {
  await lab.limiter.passwords.create(2, 'hers')
  const { page, panel } = await open()
  await panel.getByLabel('Another User').fill('nobody')
  await panel.getByRole('button', { name: 'Show', exact: true }).click()
  await panel.getByText('This user does not exist.').waitFor()
  await panel.getByLabel('Another User').fill('alice')
  await page.keyboard.press('Enter')
  await panel.getByRole('heading', { name: 'Passwords of Alice' }).waitFor()
  await expect.poll(() => panel.getByRole('button', { name: 'Create Password' }).count()).toBe(0)
  await panel.getByRole('button', { name: 'Revoke “hers”' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await panel.getByText('There are none yet.').waitFor()
  expect(await lab.limiter.passwords.list(2)).toEqual([])
  await panel.getByRole('button', { name: 'Show yours' }).click()
  await panel.getByRole('heading', { name: 'Your passwords' }).waitFor()
})
