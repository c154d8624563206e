import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 5, logic: 'block' } } }))
const headers = forThisFile(() => host.scriptOf('admin'))
beforeEach(() => host.registry.options.delete('sessmgr_settings'))

const SITE = '/wp/v2/settings'
const save = (json: unknown) => host.call('POST', SITE, { headers, json })
const destroy = (json: unknown) => host.call('POST', '/sessmgr/v1/sessions/destroy', { headers, json })

describe('rule 22: the generic settings endpoint', () => {
  it('merges a partial object over the current value', async () => {
    expect((await save({ sessmgr_settings: { maximum: 3 } })).json.sessmgr_settings).toEqual(
      wholeSettings({ maximum: 3, logic: 'block' }),
    )
    const { json } = await save({ sessmgr_settings: { logic: 'logout_oldest' } })
    expect(json.sessmgr_settings).toEqual(wholeSettings({ maximum: 3, logic: 'logout_oldest' }))
  })

  it('drops unknown keys, of the option and of the whole', async () => {
    const answer = await save({
      sessmgr_settings: { maximum: 3, colour: 'red' },
      blogname: 'Mine',
      sessmgr_secret: 'x',
    })
    expect([answer.status, answer.json]).toEqual([
      200,
      { sessmgr_settings: wholeSettings({ maximum: 3, logic: 'block' }) },
    ])
    expect((await host.registry.options.get('sessmgr_settings'))?.value).toEqual({ maximum: 3 })
    for (const name of ['blogname', 'sessmgr_secret']) expect(await host.registry.options.get(name)).toBeUndefined()
  })

  it.each([0, 'x', null])('clamps the maximum %j to 1', async (maximum) => {
    expect((await save({ sessmgr_settings: { maximum } })).json.sessmgr_settings).toEqual(
      wholeSettings({ maximum: 1, logic: 'block' }),
    )
  })

  it.each([
    [{ idle_release: 900 }, { idle_release: 900 }],
    [{ idle_release: '60' }, { idle_release: 300 }],
    [{ idle_release: 'soon' }, { idle_release: 0 }],
    [{ enforce: false }, { enforce: false }],
    [{ enforce: 'off' }, { enforce: true }],
  ])('takes %j as %j', async (given, expected) => {
    const { json } = await save({ sessmgr_settings: given })
    expect(json.sessmgr_settings).toEqual(wholeSettings({ maximum: 5, logic: 'block', ...expected }))
  })

  it.each(['nope', null, '__proto__'])('makes the logic %j into allow', async (logic) => {
    expect((await save({ sessmgr_settings: { logic } })).json.sessmgr_settings).toEqual(
      wholeSettings({ maximum: 5, logic: 'allow' }),
    )
  })

  it('lets a mode of an add-on survive when its filter whitelists it, and maps it when it maps it', async () => {
    const { hooks } = host.limiter
    const removers = [
      hooks.addFilter('sessmgr_logics', 'roles', (logics) => ({ ...logics, by_role: { label: 'By role', desc: '' } })),
    ]
    const saved = async () => (await save({ sessmgr_settings: { logic: 'by_role' } })).json.sessmgr_settings.logic
    expect(await saved()).toBe('allow')
    const seen: unknown[] = []
    removers.push(
      hooks.addFilter('pre_update_option_sessmgr_settings', 'roles', (value, old, requested) => {
        seen.push(value, old)
        return { ...(value as object), ...(requested as object) }
      }),
    )
    expect(await saved()).toBe('by_role')
    expect(seen).toEqual([wholeSettings({ maximum: 5 }), wholeSettings({ maximum: 5 })])
    removers.push(
      hooks.addFilter('pre_update_option_sessmgr_settings', 'map', (value) => ({
        ...(value as object),
        logic: 'block',
      })),
    )
    expect(await saved()).toBe('block')
    for (const remove of removers) remove()
  })

  it('reads and writes every option that is exposed, and no other', async () => {
    const own = await startRestHost()
    const schema = z.object({ on: z.boolean(), note: z.string() })
    const value = { on: false, note: '' }
    own.limiter.options.register('shown_addon', { schema, default: value, rest: true })
    own.limiter.options.register('hidden_addon', { schema, default: value })
    const admin = { headers: await own.scriptOf('admin') }
    const written = await own.call('POST', SITE, {
      ...admin,
      json: { shown_addon: { on: true }, hidden_addon: { on: true } },
    })
    const expected = { sessmgr_settings: wholeSettings({ maximum: 5 }), shown_addon: { on: true, note: '' } }
    expect([written.status, written.json]).toEqual([200, expected])
    expect((await own.call('GET', SITE, admin)).json).toEqual(expected)
    expect(await own.registry.options.get('hidden_addon')).toBeUndefined()

    const refused = await own.call('POST', SITE, {
      ...admin,
      json: { sessmgr_settings: { maximum: 2 }, shown_addon: { on: 'x' } },
    })
    expect([refused.status, refused.json.code]).toEqual([400, 'rest_invalid_param'])
    expect(Object.keys(refused.json.data.params)).toEqual(['shown_addon.on'])
    expect((await own.call('GET', SITE, admin)).json).toEqual(expected)
    await own.close()
  })

  it.each([null, 'text', [1]])('refuses %j for an option that is an object', async (value) => {
    const answer = await save({ sessmgr_settings: value })
    expect([answer.status, answer.json.data.params]).toEqual([400, { sessmgr_settings: 'must be an object' }])
    expect(await host.registry.options.get('sessmgr_settings')).toBeUndefined()
  })
})

describe('rule 23: /sessions/destroy', () => {
  it.each([{}, { user: null }, { user: '\t\n\u00a0' }])('answers %j with missing_identifier', async (json) => {
    const answer = await destroy(json)
    expect([answer.status, answer.json.code]).toEqual([400, 'missing_identifier'])
  })

  it.each([2, false, ['alice'], { $ne: '' }])(
    'answers the user %j, which is no text, with rest_invalid_param',
    async (user) => {
      const answer = await destroy({ user })
      expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_param'])
      expect(Object.keys(answer.json.data.params)).toEqual(['user'])
    },
  )

  it.each([' 2 ', '\tALICE\n', ' Alice@Example.TEST '])('ends the sessions of alice, called %j', async (user) => {
    const [alice, bob] = [await host.signIn('alice'), await host.signIn('bob')]
    host.actions.length = 0
    const answer = await destroy({ user })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ success: true, user: { id: 2, login: 'alice', display_name: 'ALICE' } })
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 2]])
    expect([await host.isSignedIn(alice), await host.isSignedIn(bob)]).toEqual([false, true])
    await host.limiter.sessions.endAll(3)
  })

  it.each(['Tokens', 'session'])('refuses the unknown key %j, and ends nothing', async (key) => {
    const alice = await host.signIn('alice')
    const answer = await destroy({ user: 'alice', [key]: [alice.token], more: 1 })
    expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_param'])
    expect(answer.json.data.params).toEqual({ [key]: 'is unknown', more: 'is unknown' })
    expect(await host.isSignedIn(alice)).toBe(true)
  })

  it('takes digits for an id, though there be a user with that login', async () => {
    expect((await destroy({ user: '777' })).json.code).toBe('user_not_found')
    expect((await destroy({ user: '777@example.test' })).json.user.id).toBe(6)
    expect((await destroy({ user: '6' })).json.user.login).toBe('777')
  })

  it.each(['nobody', '99', 'nobody@example.test', '02', '__proto__'])(
    'answers %j, whom nobody is called, with 404 user_not_found',
    async (user) => {
      const before = await host.snapshot()
      const answer = await destroy({ user })
      expect([answer.status, answer.json.code]).toEqual([404, 'user_not_found'])
      expect(await host.snapshot()).toEqual(before)
    },
  )

  it('succeeds with a user who has no session', async () => {
    host.actions.length = 0
    const answer = await destroy({ user: 'carol' })
    expect([answer.status, answer.json.success, answer.json.user.id]).toEqual([200, true, 4])
    expect(host.actions).toEqual([['sessmgr_destroy_all_sessions', 4]])
  })
})
