import { describe, expect, onTestFinished, test } from 'vitest'
import { product, roleLimits } from '../../../examples/addon-role-limits/index.ts'
import { sessmgr } from '../../../src/index.ts'
import { offlineLicensing } from '../../../src/licensing.ts'
import { recordActions } from '../../support/record-actions.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'
import { createVendor } from '../addons/offline-vendor.ts'
import { type RoleLimitsHost, startRoleLimits } from './role-limits-host.ts'

const ALICE = 2
const BOB = 3
const CAROL = 4

/** Logs a user in so many times, one after the other. */
async function loginsOf(host: RoleLimitsHost, login: string, times: number) {
  const logins: Awaited<ReturnType<RoleLimitsHost['login']>>[] = []
  for (let count = 0; count < times; count++) logins.push(await host.login(login))
  return {
    statuses: logins.map(({ status }) => status),
    seen: () => Promise.all(logins.map(({ browser }) => browser.me())),
  }
}

describe('rule 9: the limits at their priorities', () => {
  test('10: the limit of the role holds instead of that of the site, above and below it', async () => {
    const host = await startRoleLimits({ settings: { maximum: 2, logic: 'block' } })
    await host.setLimits({ roles: { editor: 3, subscriber: 1 } })
    expect((await loginsOf(host, 'carol', 4)).statuses).toEqual([200, 200, 200, 403])
    expect((await loginsOf(host, 'alice', 2)).statuses).toEqual([200, 403])
    expect((await loginsOf(host, 'admin', 3)).statuses).toEqual([200, 200, 403])
  })

  test('11: the limit of a user holds instead of that of the role, whatever the case of the name', async () => {
    const host = await startRoleLimits({ settings: { maximum: 5, logic: 'block' } })
    await host.setLimits({ roles: { subscriber: 1 }, users: { ALICE: 3 } })
    expect((await loginsOf(host, 'alice', 4)).statuses).toEqual([200, 200, 200, 403])
    expect((await loginsOf(host, 'bob', 2)).statuses).toEqual([200, 403])
    await host.setLimits({ users: { alice: 1, bob: 2 } })
    expect((await host.login('alice')).status).toBe(403)
    expect((await loginsOf(host, 'bob', 2)).statuses).toEqual([200, 403])
  })

  test('20: an override has the last word over both', async () => {
    const host = await startRoleLimits({ settings: { maximum: 1, logic: 'block' } })
    await host.setLimits({ roles: { editor: 1 }, users: { alice: 1, bob: 5 } })
    const open = (reached: boolean, userId: unknown) => (userId === BOB ? true : userId === ALICE ? false : reached)
    host.limiter.hooks.addFilter('sessmgr_reached_limit', 'override', open, 20)
    expect((await loginsOf(host, 'alice', 3)).statuses).toEqual([200, 200, 200])
    expect((await loginsOf(host, 'bob', 1)).statuses).toEqual([403])
    expect((await loginsOf(host, 'carol', 2)).statuses).toEqual([200, 403])
  })

  test('a bypass exempts from them as well', async () => {
    const host = await startRoleLimits({ settings: { logic: 'block' } })
    await host.setLimits({ users: { alice: 1 } })
    host.limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
    expect((await loginsOf(host, 'alice', 3)).statuses).toEqual([200, 200, 200])
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
})

describe('rule 4: logout_oldest makes room by the limit that holds', () => {
  test('above the site’s: only the oldest ends, not all down to the site’s', async () => {
    const host = await startRoleLimits({ settings: { maximum: 1, logic: 'logout_oldest' } })
    await host.setLimits({ roles: { editor: 3 } })
    const actions = recordActions(host.limiter.hooks)
    const { statuses, seen } = await loginsOf(host, 'carol', 4)
    expect(statuses).toEqual([200, 200, 200, 200])
    expect(await seen()).toEqual([401, 200, 200, 200])
    expect(actions).toEqual([['sessmgr_destroy_oldest_session', CAROL]])
  })

  test('below the site’s: an account that holds more comes down to it', async () => {
    const host = await startRoleLimits({ settings: { maximum: 3, logic: 'logout_oldest' } })
    const before = await loginsOf(host, 'carol', 3)
    await host.setLimits({ roles: { editor: 1 } })
    const actions = recordActions(host.limiter.hooks)
    const { browser } = await host.login('carol')
    expect([...(await before.seen()), await browser.me()]).toEqual([401, 401, 401, 200])
    expect(actions).toEqual(Array(3).fill(['sessmgr_destroy_oldest_session', CAROL]))
  })

  test('the limit of the user counts, and not that of the role', async () => {
    const host = await startRoleLimits({ settings: { maximum: 1, logic: 'logout_oldest' } })
    await host.setLimits({ roles: { editor: 1 }, users: { carol: 2 } })
    const { seen } = await loginsOf(host, 'carol', 3)
    expect(await seen()).toEqual([401, 200, 200])
  })
})

test('rule 3: allow ends all when the limit of the role is reached, and none before', async () => {
  const host = await startRoleLimits({ settings: { maximum: 1, logic: 'allow' } })
  await host.setLimits({ roles: { editor: 2 } })
  const { seen } = await loginsOf(host, 'carol', 3)
  expect(await seen()).toEqual([401, 401, 200])
})
