import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { product, roleLimits } from '../../../examples/addon-role-limits/index.ts'
import { type SessionSettings, sessmgr } from '../../../src/index.ts'
import { offlineLicensing } from '../../../src/licensing.ts'
import { recordActions } from '../../support/record-actions.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'
import { createVendor } from '../addons/offline-vendor.ts'
import { type RoleLimitsHost, startRoleLimits } from './role-limits-host.ts'

const [ALICE, BOB, CAROL] = [2, 3, 4]
const DAY_MS = 24 * 60 * 60_000
const PATH = '/wp/v2/settings'
const LICENSE = `/sessmgr/v1/addons/${product.id}/license`

afterEach(() => {
  vi.useRealTimers()
})

/** Logs a user in so many times, one after the other. */
async function loginsOf(host: RoleLimitsHost, login: string, times: number) {
  const browsers: Awaited<ReturnType<RoleLimitsHost['login']>>[] = []
  for (let count = 0; count < times; count++) browsers.push(await host.login(login))
  return {
    statuses: browsers.map(({ status }) => status),
    seen: () => Promise.all(browsers.map(({ browser }) => browser.me())),
  }
}

/** Ends all sessions, and sets settings and limits. */
async function begin(host: RoleLimitsHost, settings: Partial<SessionSettings>, roles = {}, users = {}) {
  for (const userId of [1, ALICE, BOB, CAROL]) await host.limiter.sessions.endAll(userId)
  await host.limiter.settings.update(settings)
  await host.setLimits({ roles, users })
}

test('rule 9: the limit of the role at 10, that of the user at 11, an override at 20, and a bypass over all', async () => {
  const host = await startRoleLimits()
  const { hooks } = host.limiter
  await begin(host, { maximum: 2, logic: 'block' }, { editor: 3, subscriber: 1 }, { ALICE: 3 })
  expect((await loginsOf(host, 'carol', 4)).statuses).toEqual([200, 200, 200, 403])
  expect((await loginsOf(host, 'bob', 2)).statuses).toEqual([200, 403])
  expect((await loginsOf(host, 'admin', 3)).statuses).toEqual([200, 200, 403])
  expect((await loginsOf(host, 'alice', 4)).statuses).toEqual([200, 200, 200, 403])

  await begin(host, { maximum: 1 }, { editor: 1 }, { alice: 1, bob: 5 })
  const open = (reached: boolean, userId: unknown) => (userId === BOB ? true : userId === ALICE ? false : reached)
  hooks.addFilter('sessmgr_reached_limit', 'override', open, 20)
  expect((await loginsOf(host, 'alice', 3)).statuses).toEqual([200, 200, 200])
  expect((await loginsOf(host, 'bob', 1)).statuses).toEqual([403])
  expect((await loginsOf(host, 'carol', 2)).statuses).toEqual([200, 403])
  hooks.removeFilter('sessmgr_reached_limit', 'override')
  hooks.addFilter('sessmgr_bypass', 'test', () => true)
  expect((await loginsOf(host, 'carol', 2)).statuses).toEqual([200, 200])
})

test('rules 3 and 4: logout_oldest makes room by the limit that holds, and allow begins again when it is reached', async () => {
  const host = await startRoleLimits()
  const actions = recordActions(host.limiter.hooks)
  const oldest = ['sessmgr_destroy_oldest_session', CAROL]
  await begin(host, { maximum: 1, logic: 'logout_oldest' }, { editor: 3 })
  actions.length = 0
  const above = await loginsOf(host, 'carol', 4)
  expect([above.statuses, await above.seen()]).toEqual([
    [200, 200, 200, 200],
    [401, 200, 200, 200],
  ])
  expect(actions).toEqual([oldest])
  // Lower than what the account holds: it comes down to the limit.
  await host.setLimits({ roles: { editor: 1 } })
  expect(await (await loginsOf(host, 'carol', 1)).seen()).toEqual([200])
  expect([await above.seen(), actions]).toEqual([[401, 401, 401, 401], Array(4).fill(oldest)])

  await begin(host, {}, { editor: 1 }, { carol: 2 })
  expect(await (await loginsOf(host, 'carol', 3)).seen()).toEqual([401, 200, 200])
  await begin(host, { logic: 'allow' }, { editor: 2 })
  expect(await (await loginsOf(host, 'carol', 3)).seen()).toEqual([401, 401, 200])
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

test('the limits hold while a license is good, and are kept while it is not: none, another, given back, expired', async () => {
  const host = await startRoleLimits({ license: 'none' })
  const roles = { editor: 3 }
  const [settings, users] = [{ maximum: 1, logic: 'logout_oldest' } as const, {}]
  const left = async () => {
    await begin(host, settings, roles, users)
    for (let count = 0; count < 4; count++) await host.login('carol')
    return host.limiter.sessions.count(CAROL)
  }
  const row = async () => {
    const { items } = (await host.rest('GET', '/sessmgr/v1/addons')).json<{ items: { id: number }[] }>()
    return items.find(({ id }) => id === product.id)
  }
  expect((await host.rest('GET', PATH)).json()).toMatchObject({ role_limits: { roles: {}, users: {} } })
  expect(await left()).toBe(1)
  expect(await row()).toMatchObject({ is_active: true, is_premium: true, is_license_active: false })
  expect(await host.limiter.options.get('role_limits')?.get()).toEqual({ roles, users })

  for (const key of [await createVendor('demo', 'demo-vendor').issue(product.id), await host.vendor.issue(7002)]) {
    expect((await host.rest('POST', LICENSE, { key })).status).toBe(400)
  }
  const expiresAt = new Date(Date.now() + 30 * DAY_MS)
  const key = await host.vendor.issue(product.id, { expiresAt })
  expect((await host.rest('POST', LICENSE, { key })).status).toBe(200)
  expect([await row(), await left()]).toMatchObject([{ is_license_active: true }, 3])
  expect([(await host.rest('DELETE', LICENSE)).status, await left()]).toEqual([200, 1])
  expect((await host.rest('POST', LICENSE, { key })).status).toBe(200)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31 * DAY_MS })
  expect([await row(), await left()]).toMatchObject([{ is_active: true, is_license_active: false }, 1])
  const registered = await host.limiter.hooks.applyFilters('sessmgr_register_addon', {})
  expect(registered[product.id]).toEqual({
    slug: 'role-limits',
    is_premium: true,
    main_file: expect.stringMatching(/examples\/addon-role-limits\/role-limits\.ts$/),
    public_key: host.vendor.publicJwk.x,
  })
})

test('rules 20 and 22: role_limits at /wp/v2/settings repairs limits, or refuses them by name and writes nothing', async () => {
  const host = await startRoleLimits()
  const post = (role_limits: unknown, more = {}) => host.rest('POST', PATH, { role_limits, ...more })
  const stored = async () => (await host.rest('GET', PATH)).json<{ role_limits: object }>().role_limits
  // A group that is left out keeps its limits, one that is sent is replaced, and unknown keys are dropped.
  const [roles, users] = [
    { constructor: 2, 'a b': 3 },
    { alice: 7, bob: 2 },
  ]
  expect((await post({ roles, color: 'red' })).json()).toMatchObject({ role_limits: { roles } })
  expect((await post({ users: { alice: '7', bob: ' 2 ', carol: '', dora: null } })).status).toBe(200)
  expect(await stored()).toEqual({ roles, users })
  const whole = 'must be a whole number, 1 or more'
  for (const [sent, name, problem] of [
    [{ roles: { editor: 0 } }, 'role_limits.roles.editor', whole],
    [{ users: { bob: -1 } }, 'role_limits.users.bob', whole],
    [{ users: { bob: 1.5 } }, 'role_limits.users.bob', whole],
    [{ users: { bob: 'many' } }, 'role_limits.users.bob', whole],
    [{ users: { bob: 1e300 } }, 'role_limits.users.bob', whole],
    [{ roles: [3] }, 'role_limits.roles', 'must be an object of limits by name'],
    [{ users: null }, 'role_limits.users', 'must be an object of limits by name'],
    [{ roles: { ' editor': 2 } }, 'role_limits.roles. editor', 'is not a valid name'],
    [{ users: { bob: 2, Bob: 3 } }, 'role_limits.users.Bob', 'occurs more than once'],
    ['all', 'role_limits', 'must be an object'],
  ] as const) {
    const answer = await post(sent, { sessmgr_settings: { maximum: 9 } })
    expect([answer.status, answer.json<{ code: string }>().code], name).toEqual([400, 'rest_invalid_param'])
    const { params } = answer.json<{ data: { params: Record<string, string> } }>().data
    expect(params[name], name).toContain(problem)
  }
  expect(await stored()).toEqual({ roles, users })
  expect((await host.limiter.settings.get()).maximum).toBe(1)
})
