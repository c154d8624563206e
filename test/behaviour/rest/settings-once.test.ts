import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../support/for-this-file.ts'
import { type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { ADMIN_ROUTES } from '../../support/rest-routes.ts'

const FILTER = 'sessmgr_settings_defaults'
const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 9, logic: 'allow' } } }))
beforeAll(() => {
  const schema = z.object({ text: z.string() })
  host.limiter.options.register('colours', { schema, default: { text: 'black' }, rest: true })
})

let admin: SignedIn
beforeEach(async () => {
  await host.arrange()
  admin = await host.signIn('admin')
})

/** Counts how often the settings are built during a call. */
async function countOf(work: () => Promise<unknown>): Promise<number> {
  const before = host.limiter.hooks.didFilter(FILTER)
  await work()
  return host.limiter.hooks.didFilter(FILTER) - before
}

const call = (method: string, path: string, json?: object) => async () =>
  expect((await host.call(method, path, { headers: admin.headers, json })).status).toBe(200)

/** Routes that read the settings again after they have deleted a value. */
const RESETS = ADMIN_ROUTES.filter(({ method, path }) => method === 'DELETE' && path.startsWith('/wp/v2/settings/'))
/** Routes that need the settings, once for each kind of write. */
const NEEDY = ADMIN_ROUTES.filter(
  (route) =>
    /\/settings|\/explain|\/people($|\/export|\/summary)|\/sessions\?/.test(route.path) &&
    !RESETS.includes(route) &&
    !/PUT|PATCH/.test(route.method),
)

describe('rule 65: the settings are built once', () => {
  it('for a login', async () => {
    expect(await countOf(() => host.signIn('alice'))).toBe(1)
  })

  it('for an explanation, of an exempt user too, and for each call of the application', async () => {
    const { id } = host.user('alice')
    expect(await countOf(() => host.limiter.explain(id))).toBe(1)
    const remove = host.limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
    expect(await countOf(() => host.limiter.explain(id))).toBe(1)
    remove()
    expect(await countOf(() => Promise.all([host.limiter.settings.get(), host.limiter.settings.get()]))).toBe(2)
  })

  it.each(NEEDY)('for $method $path', async (route) => {
    expect(await countOf(call(route.method, route.path, route.json))).toBe(1)
  })

  it.each(RESETS)('and again after the write of $method $path', async ({ method, path }) => {
    expect(await countOf(call(method, path))).toBe(2)
  })

  it('for a change of several options, which answers with what it has stored', async () => {
    const json = { sessmgr_settings: { maximum: 3 }, colours: { text: 'red' } }
    expect(await countOf(call('POST', '/wp/v2/settings', json))).toBe(1)
    const answer = await host.call('POST', '/wp/v2/settings', { headers: admin.headers, json })
    expect(answer.json).toMatchObject(json)
    expect(answer.text).toBe((await host.call('GET', '/wp/v2/settings', { headers: admin.headers })).text)
    expect(answer.headers.etag).toBe(
      (await host.call('GET', '/wp/v2/settings', { headers: admin.headers })).headers.etag,
    )
  })

  it('for all pages of an export', async () => {
    for (let count = 0; count < 4; count++) await host.signIn(['alice', 'bob', 'carol', 'dora'][count] as string)
    expect(await countOf(call('GET', '/sessmgr/v1/people/export'))).toBe(1)
  })
})
