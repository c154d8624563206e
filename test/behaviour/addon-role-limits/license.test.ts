import { afterEach, describe, expect, test, vi } from 'vitest'
import { product } from '../../../examples/addon-role-limits/product.ts'
import { createVendor } from '../addons/offline-vendor.ts'
import { type RoleLimitsHost, startRoleLimits } from './role-limits-host.ts'

const DAY_MS = 24 * 60 * 60_000
const CAROL = 4
const settings = { maximum: 1, logic: 'logout_oldest' } as const
const roles = { editor: 3 }

/** How many sessions four logins leave. */
async function left(host: RoleLimitsHost): Promise<number> {
  for (let count = 0; count < 4; count++) await host.login('carol')
  return host.limiter.sessions.count(CAROL)
}

/** What the catalogue says of the add-on. */
async function row(host: RoleLimitsHost): Promise<object | undefined> {
  const { items } = (await host.rest('GET', '/sessmgr/v1/addons')).json<{ items: { id: number }[] }>()
  return items.find(({ id }) => id === product.id)
}

afterEach(() => {
  vi.useRealTimers()
})

describe('without a good license the limit of the site holds, and the limits are kept', () => {
  test('when none was ever given', async () => {
    const host = await startRoleLimits({ settings, license: 'none' })
    await host.setLimits({ roles, users: { carol: 2 } })
    expect(await row(host)).toMatchObject({ is_active: true, is_premium: true, is_license_active: false })
    expect(await left(host)).toBe(1)
    expect(await host.limiter.options.get('role_limits')?.get()).toEqual({ roles, users: { carol: 2 } })
  })

  test('when it is given and taken back over REST, at the next login each time', async () => {
    const host = await startRoleLimits({ settings, license: 'none' })
    await host.setLimits({ roles })
    const path = `/sessmgr/v1/addons/${product.id}/license`
    expect((await host.rest('POST', path, { key: await host.vendor.issue(product.id) })).status).toBe(200)
    expect(await row(host)).toMatchObject({ is_license_active: true })
    expect(await left(host)).toBe(3)
    expect((await host.rest('DELETE', path)).status).toBe(200)
    expect(await left(host)).toBe(1)
  })

  test('when it has expired', async () => {
    const host = await startRoleLimits({ settings, license: 'none' })
    await host.setLimits({ roles })
    const expiresAt = new Date(Date.now() + 30 * DAY_MS)
    await host.limiter.addons.activate(product.id, await host.vendor.issue(product.id, { expiresAt }))
    expect(await left(host)).toBe(3)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31 * DAY_MS })
    expect(await row(host)).toMatchObject({ is_active: true, is_license_active: false })
    expect(await left(host)).toBe(1)
  })

  test('when it is of another vendor, or of another product', async () => {
    const host = await startRoleLimits({ settings, license: 'none' })
    await host.setLimits({ roles })
    const path = `/sessmgr/v1/addons/${product.id}/license`
    for (const key of [await createVendor('demo', 'demo-vendor').issue(product.id), await host.vendor.issue(7002)]) {
      expect((await host.rest('POST', path, { key })).status).toBe(400)
    }
    expect(await left(host)).toBe(1)
  })
})

test('the product is registered with the vendor’s public key, and with a file that is there', async () => {
  const host = await startRoleLimits()
  const registered = await host.limiter.hooks.applyFilters('sessmgr_register_addon', {})
  expect(registered[product.id]).toEqual({
    slug: 'role-limits',
    is_premium: true,
    main_file: expect.stringMatching(/examples\/addon-role-limits\/role-limits\.ts$/),
    public_key: host.vendor.publicJwk.x,
  })
})
