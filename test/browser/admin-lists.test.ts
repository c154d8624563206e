import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { startAdminLab } from '../support/admin-lab.ts'
import { startChromium } from '../support/chromium.ts'
import { createCrowd } from '../support/crowd.ts'
import { forThisFile } from '../support/for-this-file.ts'
import { faultsOf } from '../support/page-faults.ts'
import { createRestUsers } from '../support/rest-users.ts'

const chromium = await forThisFile(startChromium())

/** Opens the admin screen of an application with this many people, and this many sessions of the user "many". */
async function openCrowd(people: number, sessions: number, path: string): Promise<Page> {
  const { store, sessionStore, users, host } = await createCrowd(createRestUsers(), { people, sessions })
  const lab = await startAdminLab({ users, host, sessionStore, sessmgr: { store, directory: true } })
  const page = await lab.open(chromium, path)
  page.once('close', () => void lab.close())
  return page
}

describe('the list of everybody', () => {
  test.each([
    [0, '1 of 5'],
    [50, '50 of 51 shown.'],
    [10_000, /50 of \D*10,?00\d shown/],
  ])('with %i other people has nothing that axe finds and fits', async (people, shown) => {
    const page = await openCrowd(people, 0, '/sessions')
    await page.getByText(shown).waitFor()
    expect(await faultsOf(page, `admin-people-${people}`, [360, 768, 1280])).toEqual([])
    await page.close()
  })
})

describe("one person's sessions", () => {
  test.each([
    [0, 'MANY is not signed in anywhere.'],
    [1, '1 of 5 session'],
    [500, '50 of 500 shown.'],
  ])('%i of them have nothing that axe finds and fit', async (sessions, shown) => {
    const page = await openCrowd(0, sessions, '/sessions?user=many')
    await page.getByText(shown).first().waitFor()
    expect(await faultsOf(page, `admin-person-${sessions}`, [360, 768, 1280])).toEqual([])
    await page.close()
  })
})
