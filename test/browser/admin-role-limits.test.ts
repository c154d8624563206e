import AxeBuilder from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { product } from '../../examples/addon-role-limits/product.ts'
import { demoVendorFile } from '../addon-role-limits/role-limits-host.ts'
import { type AdminHost, startAdminHost } from '../support/admin-host.ts'
import { seenBy } from '../support/chromium.ts'

const CAROL = 4
const { vendor, file, remove } = demoVendorFile()
let host: AdminHost
beforeAll(async () => {
  host = await startAdminHost({ env: { ADDON_ROLE_LIMITS: file } })
})
afterAll(async () => {
  await host?.close()
  remove()
})
beforeEach(async () => {
  await host.reset()
  await host.limiter.options.get('role_limits')?.update({ roles: {}, users: {} })
  await host.limiter.addons.activate(product.id, await vendor.issue(product.id))
})

const stored = () => host.limiter.options.get('role_limits')?.get()
const panel = (page: Page) => page.getByRole('region', { name: 'Role Limits' })
const save = (page: Page) => page.getByRole('button', { name: 'Save Changes' }).click()
