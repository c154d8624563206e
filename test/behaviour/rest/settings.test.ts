import { beforeEach, describe, expect, it } from 'vitest'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

const SETTINGS = '/sessmgr/v1/settings'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 2, logic: 'logout_oldest' } } }))
const headers = forThisFile(() => host.scriptOf('admin'))
beforeEach(() => host.registry.options.delete('sessmgr_settings'))

const read = async () => (await host.call('GET', SETTINGS, { headers })).json
const write = (json: unknown, method = 'POST') => host.call(method, SETTINGS, { headers, json })

describe('the settings', () => {
  it('are read whole, merged with what the application was started with', async () => {
    expect(await read()).toEqual(wholeSettings({ maximum: 2, logic: 'logout_oldest' }))
    await host.registry.options.set('sessmgr_settings', { maximum: 7 })
    expect(await read()).toEqual(wholeSettings({ maximum: 7, logic: 'logout_oldest' }))
  })

  it('have no other keys, whatever is stored', async () => {
    await host.registry.options.set('sessmgr_settings', { maximum: 7, secret_of_an_addon: 'x' })
    expect(await read()).toEqual(wholeSettings({ maximum: 7, logic: 'logout_oldest' }))
  })

  it('are answered whole after an update', async () => {
    const answer = await write({ maximum: '3' })
    expect([answer.status, answer.json]).toEqual([200, wholeSettings({ maximum: 3, logic: 'logout_oldest' })])
    expect(await read()).toEqual(wholeSettings({ maximum: 3, logic: 'logout_oldest' }))
  })

  it('hold from the next login on', async () => {
    const [first, second] = [await host.signIn('alice'), await host.signIn('alice')]
    await write({ maximum: 1 })
    expect([await host.isSignedIn(first), await host.isSignedIn(second)]).toEqual([true, true])
    const third = await host.signIn('alice')
    const still = await Promise.all([first, second, third].map((one) => host.isSignedIn(one)))
    expect(still).toEqual([false, false, true])
  })

  it('take parallel partial updates of many callers without losing one', async () => {
    for (let round = 0; round < 10; round++) {
      const logic = round % 2 ? 'block' : 'allow'
      const answers = await Promise.all([write({ maximum: round + 1 }), write({ logic }, 'PATCH'), write({}, 'PUT')])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(await read()).toEqual(wholeSettings({ maximum: round + 1, logic }))
    }
  })

  it('accept a logic of the catalogue as soon as a subscriber adds it and vouches for it, and no longer than that', async () => {
    const { hooks } = host.limiter
    const added = { by_role: { label: 'By role', desc: '' } }
    const removers = [
      hooks.addFilter('sessmgr_logics', 'roles', (logics) => ({ ...logics, ...added })),
      hooks.addFilter('pre_update_option_sessmgr_settings', 'roles', (value, _old, requested) => ({
        ...(value as object),
        ...(requested as object),
      })),
    ]
    expect((await write({ logic: 'by_role' })).json.logic).toBe('by_role')
    for (const remove of removers) remove()
    const refused = await write({ logic: 'by_role' })
    expect([refused.status, Object.keys(refused.json.data.params)]).toEqual([400, ['logic']])
  })

  it('refuse a logic of the catalogue that nobody vouches for, instead of storing another in its place', async () => {
    const remove = host.limiter.hooks.addFilter('sessmgr_logics', 'roles', (logics) => ({
      ...logics,
      by_role: { label: 'By role', desc: '' },
    }))
    const answer = await write({ logic: 'by_role' })
    remove()
    expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_param'])
    expect(await read()).toEqual(wholeSettings({ maximum: 2, logic: 'logout_oldest' }))
  })
})
