import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { product, roleLimits } from '../../../examples/addon-role-limits/index.ts'
import { sessmgr } from '../../../src/index.ts'
import { offlineLicensing } from '../../../src/licensing.ts'
import { recordActions } from '../../support/record-actions.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'
import { createVendor } from '../addons/offline-vendor.ts'
import { startRoleLimits } from './role-limits-host.ts'

const [ALICE, BOB, CAROL] = [2, 3, 4]
const DAY_MS = 24 * 60 * 60_000
const PATH = '/wp/v2/settings'
const LICENSE = `/sessmgr/v1/addons/${product.id}/license`

afterEach(() => {
  vi.useRealTimers()
})

test('rules 3, 4 and 9: the limit of the role at 10, that of the user at 11, an override at 20, a bypass over all', async () => {
  const { limiter, vendor, begin, logins } = await startRoleLimits()
  const { hooks } = limiter
  await limiter.addons.activate(product.id, await vendor.issue(product.id))
  await begin({ maximum: 2, logic: 'block' }, { editor: 3, subscriber: 1 }, { ALICE: 3 })
  expect((await logins('carol', 4)).statuses).toEqual([200, 200, 200, 403])
  expect((await logins('bob', 2)).statuses).toEqual([200, 403])
  expect((await logins('admin', 3)).statuses).toEqual([200, 200, 403])
  expect((await logins('alice', 4)).statuses).toEqual([200, 200, 200, 403])

  await begin({ maximum: 1 }, { editor: 1 }, { alice: 1, bob: 5 })
  const open = (reached: boolean, userId: unknown) => (userId === BOB ? true : userId === ALICE ? false : reached)
  hooks.addFilter('sessmgr_reached_limit', 'override', open, 20)
  expect((await logins('alice', 2)).statuses).toEqual([200, 200])
  expect((await logins('bob', 1)).statuses).toEqual([403])
  expect((await logins('carol', 2)).statuses).toEqual([200, 403])
  hooks.removeFilter('sessmgr_reached_limit', 'override')
  hooks.addFilter('sessmgr_bypass', 'test', () => true)
  expect((await logins('carol', 2)).statuses).toEqual([200, 200])
  hooks.removeFilter('sessmgr_bypass', 'test')

  await begin({ logic: 'logout_oldest' }, { editor: 3 })
  const actions = recordActions(hooks)
  const oldest = ['sessmgr_destroy_oldest_session', CAROL]
  const above = await logins('carol', 4)
  expect([above.statuses, await above.seen(), actions]).toEqual([Array(4).fill(200), [401, 200, 200, 200], [oldest]])
  // Lower than what the account holds: it comes down to the limit.
  await limiter.options.get('role_limits')?.update({ roles: { editor: 1 } })
  expect(await (await logins('carol', 1)).seen()).toEqual([200])
  expect([await above.seen(), actions]).toEqual([[401, 401, 401, 401], Array(4).fill(oldest)])
  await begin({ logic: 'allow' }, { editor: 1 }, { carol: 2 })
  expect(await (await logins('carol', 3)).seen()).toEqual([401, 401, 200])
})

test('of several roles the highest limit holds; of none, and for an unknown user, that of the site', async () => {
  const vendor = createVendor()
  const limiter = sessmgr({
    licensing: offlineLicensing({ ...vendor.trust, catalogue: [product] }),
    site: { url: 'https://site.example' },
    host: restHostOf(createRestUsers()),
  })
  onTestFinished(() => limiter.close())
  const rolesOf = ({ id }: { id: number }) => (id === ALICE ? ['author', 'guest', 'editor'] : ['toString'])
  roleLimits(limiter, { vendor: vendor.trust, roles: [], rolesOf })
  await limiter.addons.activate(product.id, await vendor.issue(product.id))
  await limiter.options.get('role_limits')?.update({ roles: { author: 2, editor: 7, guest: 4 } })
  const maximumOf = (userId: number) => limiter.hooks.applyFilters('sessmgr_maximum', 1, userId)
  expect(await Promise.all([ALICE, BOB, 999].map(maximumOf))).toEqual([7, 1, 1])
})

test('the limits hold while a license is good, and are kept while it is not: none, another, expired', async () => {
  const { limiter, vendor, begin, logins, rest } = await startRoleLimits()
  const left = async () => {
    await begin({ maximum: 1, logic: 'logout_oldest' }, { editor: 3 })
    await logins('carol', 4)
    return limiter.sessions.count(CAROL)
  }
  expect(await left()).toBe(1)
  for (const key of [await createVendor('demo', 'demo-vendor').issue(product.id), await vendor.issue(7002)]) {
    expect((await rest('POST', LICENSE, { key })).status).toBe(400)
  }
  const key = await vendor.issue(product.id, { expiresAt: new Date(Date.now() + 30 * DAY_MS) })
  expect((await rest('POST', LICENSE, { key })).json).toMatchObject({ is_active: true, is_license_active: true })
  expect(await left()).toBe(3)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31 * DAY_MS })
  expect(await left()).toBe(1)
  expect(await limiter.options.get('role_limits')?.get()).toEqual({ roles: { editor: 3 }, users: {} })
})

test('rules 20 and 22: role_limits at /wp/v2/settings repairs limits, or refuses them by name and writes nothing', async () => {
  const { limiter, rest } = await startRoleLimits()
  const post = (role_limits: unknown, more = {}) => rest('POST', PATH, { role_limits, ...more })
  const stored = async () => (await rest('GET', PATH)).json.role_limits
  // A group that is left out keeps its limits, one that is sent is replaced, and unknown keys are dropped.
  const roles = { constructor: 2, 'a b': 3 }
  expect((await post({ roles, color: 'red' })).json).toMatchObject({ role_limits: { roles } })
  expect((await post({ users: { alice: '7', bob: ' 2 ', carol: '', dora: null } })).status).toBe(200)
  const kept = { roles, users: { alice: 7, bob: 2 } }
  expect(await stored()).toEqual(kept)
  const whole = 'must be a whole number, 1 or more'
  for (const [sent, name, problem] of [
    [{ roles: { editor: 0 } }, 'role_limits.roles.editor', whole],
    [{ users: { bob: 1e300 } }, 'role_limits.users.bob', whole],
    [{ roles: [3] }, 'role_limits.roles', 'must be an object of limits by name'],
    [{ roles: { ' editor': 2 } }, 'role_limits.roles. editor', 'is not a valid name'],
    [{ users: { bob: 2, Bob: 3 } }, 'role_limits.users.Bob', 'occurs more than once'],
    ['all', 'role_limits', 'must be an object'],
  ] as const) {
    const { status, json } = await post(sent, { sessmgr_settings: { maximum: 9 } })
    expect([status, json.code], name).toEqual([400, 'rest_invalid_param'])
    expect(json.data.params[name], name).toContain(problem)
  }
  expect([await stored(), (await limiter.settings.get()).maximum]).toEqual([kept, 1])
})
