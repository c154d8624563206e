import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

const SITE = '/wp/v2/settings'

const host = forThisFile(() => startRestHost())
const headers = forThisFile(() => host.scriptOf('admin'))
beforeAll(() => {
  const { options } = host.limiter
  options.register('one_addon', { schema: z.object({ a: z.int(), b: z.int() }), default: { a: 0, b: 0 }, rest: true })
  options.register('two_addon', { schema: z.string().max(5), default: 'two', rest: true })
  options.register('secret_addon', { schema: z.string(), default: 'canary-secret' })
})
beforeEach(async () => {
  for (const name of ['sessmgr_settings', 'one_addon', 'two_addon']) await host.registry.options.delete(name)
})

const read = async () => (await host.call('GET', SITE, { headers })).json
const write = (json: unknown, method = 'POST') => host.call(method, SITE, { headers, json })
const defaults = { sessmgr_settings: wholeSettings({ maximum: 5 }), one_addon: { a: 0, b: 0 }, two_addon: 'two' }

describe('the generic settings endpoint', () => {
  it('reads every exposed option with its default, and no other', async () => {
    expect(await read()).toEqual(defaults)
  })

  it.each(['POST', 'PUT', 'PATCH'])('saves several options in one %s and answers them all', async (method) => {
    const answer = await write({ one_addon: { b: 2 }, two_addon: 'deux', sessmgr_settings: { maximum: 3 } }, method)
    const expected = { sessmgr_settings: wholeSettings({ maximum: 3 }), one_addon: { a: 0, b: 2 }, two_addon: 'deux' }
    expect([answer.status, answer.json]).toEqual([200, expected])
    expect(await read()).toEqual(expected)
  })

  it('writes none of several options when one of them is refused, whichever comes first', async () => {
    const bad = { two_addon: 'much too long' }
    const good = { one_addon: { a: 1 }, sessmgr_settings: { maximum: 3 } }
    for (const json of [
      { ...good, ...bad },
      { ...bad, ...good },
    ]) {
      const answer = await write(json)
      expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_param'])
      expect(Object.keys(answer.json.data.params)).toEqual(['two_addon'])
      expect(await read()).toEqual(defaults)
    }
  })

  it('neither shows nor writes an option that is not exposed, nor makes one', async () => {
    const answer = await write({ secret_addon: 'x', new_option: 1, 'sessmgr.secret': 'x', constructor: { a: 1 } })
    expect([answer.status, answer.json]).toEqual([200, defaults])
    expect(answer.text).not.toContain('canary')
    for (const name of ['secret_addon', 'new_option', 'constructor']) {
      expect(await host.registry.options.get(name)).toBeUndefined()
    }
  })

  it('changes what /settings reads, and the other way round', async () => {
    await write({ sessmgr_settings: { maximum: 3 } })
    const settings = '/sessmgr/v1/settings'
    expect((await host.call('GET', settings, { headers })).json).toEqual(wholeSettings({ maximum: 3, logic: 'allow' }))
    await host.call('POST', settings, { headers, json: { logic: 'block' } })
    expect((await read()).sessmgr_settings).toEqual(wholeSettings({ maximum: 3, logic: 'block' }))
  })

  it('still answers when one option holds what its add-on no longer takes', async () => {
    await host.registry.options.set('one_addon', { a: 'text', b: [] })
    expect(await read()).toEqual(defaults)
    expect((await write({ one_addon: { a: 1 } })).json.one_addon).toEqual({ a: 1, b: 0 })
  })

  it('repairs what /settings refuses', async () => {
    const answer = await write({ sessmgr_settings: { maximum: 0, logic: 'nope' } })
    expect([answer.status, answer.json.sessmgr_settings]).toEqual([200, wholeSettings({ maximum: 1, logic: 'allow' })])
  })
})
