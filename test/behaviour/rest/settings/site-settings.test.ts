import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../../support/for-this-file.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { wholeSettings } from '../../../support/whole-settings.ts'

const SITE = '/wp/v2/settings'
const OWN = `${SITE}/sessmgr_settings`
const SETTINGS = '/sessmgr/v1/settings'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 5, logic: 'block' } } }))
const script = forThisFile(() => host.scriptOf('admin'))
const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`key${index}`, index]))
const defaults = {
  sessmgr_settings: wholeSettings({ maximum: 5, logic: 'block' }),
  pair_addon: { a: 0, b: 0 },
  text_addon: 'two',
  many_addon: many,
}
beforeAll(() => {
  const { options } = host.limiter
  const pair = z.object({ a: z.int(), b: z.int() })
  options.register('pair_addon', { schema: pair, default: defaults.pair_addon, rest: true })
  options.register('text_addon', { schema: z.string().max(5), default: 'two', rest: true })
  options.register('many_addon', { schema: z.record(z.string(), z.int()), default: many, rest: true })
  options.register('secret_addon', { schema: z.string(), default: 'canary-secret' })
})
const NAMES = Object.keys(defaults)
beforeEach(async () => {
  for (const name of NAMES) await host.registry.options.delete(name)
})

const get = (path = SITE) => host.call('GET', path, { headers: script })
const read = async (path = SITE) => (await get(path)).json
const tagOf = async (path = SITE) => String((await get(path)).headers.etag)
const write = (path: string, json: unknown, tag?: string, method = 'POST') =>
  host.call(method, path, { headers: { ...script, ...(tag === undefined ? {} : { 'if-match': tag }) }, json })
const save = (sessmgr_settings: unknown) => write(SITE, { sessmgr_settings })
const stored = () => Promise.all(NAMES.map(async (name) => (await host.registry.options.get(name))?.value))
const whole = (given: object) => wholeSettings({ maximum: 5, logic: 'block', ...given })

describe('rule 22: the generic settings endpoint', () => {
  it.each(['POST', 'PUT', 'PATCH'])('saves several options in one %s and answers all exposed ones', async (method) => {
    expect(await read()).toEqual(defaults)
    const mine = { pair_addon: { b: 2 }, text_addon: 'deux', sessmgr_settings: { maximum: 3, colour: 'red' } }
    const unknown = { secret_addon: 'x', new_option: 1, 'sessmgr.secret': 'x', constructor: { a: 1 }, blogname: 'Mine' }
    const answer = await write(SITE, { ...mine, ...unknown }, undefined, method)
    const sessmgr_settings = whole({ maximum: 3 })
    const expected = { ...defaults, sessmgr_settings, pair_addon: { a: 0, b: 2 }, text_addon: 'deux' }
    expect([answer.status, answer.json]).toEqual([200, expected])
    expect([answer.text, answer.headers.etag]).toEqual([(await get()).text, await tagOf()])
    expect((await host.registry.options.get('sessmgr_settings'))?.value).toEqual({ maximum: 3 })
    for (const name of ['secret_addon', 'new_option', 'constructor', 'blogname']) {
      expect(await host.registry.options.get(name), name).toBeUndefined()
    }
    expect(await read(SETTINGS)).toEqual(sessmgr_settings)
    await write(SETTINGS, { logic: 'allow' })
    expect((await read()).sessmgr_settings).toEqual(whole({ maximum: 3, logic: 'allow' }))
  })

  it('writes none of several options when one is refused, whichever comes first, and none without a body', async () => {
    const good = { pair_addon: { a: 1 }, sessmgr_settings: { maximum: 3 } }
    for (const [json, name] of [
      [{ ...good, text_addon: 'much too long' }, 'text_addon'],
      [{ text_addon: 'much too long', ...good }, 'text_addon'],
      [{ ...good, pair_addon: { a: 'x' } }, 'pair_addon.a'],
      ...[null, 'text', [1]].map((sessmgr_settings) => [{ sessmgr_settings }, 'sessmgr_settings'] as const),
      [undefined, 'body'],
    ] as const) {
      const answer = await write(SITE, json)
      const expected = [400, 'rest_invalid_param', [name]]
      expect([answer.status, answer.json.code, Object.keys(answer.json.data?.params ?? {})]).toEqual(expected)
    }
    expect(await stored()).toEqual([undefined, undefined, undefined, undefined])
  })

  it('repairs what /settings refuses', async () => {
    const given = { maximum: 'x', logic: 'nope', idle_release: '60', enforce: 'off' }
    const repaired = { maximum: 1, logic: 'allow', idle_release: 300, enforce: true }
    expect((await save(given)).json.sessmgr_settings).toEqual(whole(repaired))
  })
})

describe('rule 37: an option over REST', () => {
  it('tells what is stored, and is given back by key or whole; one that is not exposed is unknown', async () => {
    const given = { defaults: whole({}) }
    expect(await read(OWN)).toEqual({ value: whole({}), stored: null, ...given })
    const both = { maximum: 3, logic: 'allow' }
    await save(both)
    expect(await read(OWN)).toEqual({ value: whole(both), stored: both, ...given })
    const left = { value: whole({ maximum: 3 }), stored: { maximum: 3 }, ...given }
    expect((await write(`${OWN}/logic`, undefined, undefined, 'DELETE')).json).toEqual(left)
    expect((await write(OWN, undefined, undefined, 'DELETE')).json).toEqual({
      value: whole({}),
      stored: null,
      ...given,
    })
    for (const method of ['GET', 'DELETE']) {
      const answer = await write(`${SITE}/sessmgr.secret`, undefined, undefined, method)
      expect([answer.status, answer.json.code], method).toEqual([404, 'rest_no_route'])
    }
  })
})

describe('a write with If-Match', () => {
  it('goes through while nothing has changed, but another key, or the same key to the same value', async () => {
    for (const theirs of [{ logic: 'allow' }, { maximum: 7 }]) {
      await host.registry.options.delete('sessmgr_settings')
      const tag = await tagOf()
      await write(SETTINGS, theirs)
      const answer = await write(SITE, { sessmgr_settings: { maximum: 7 } }, tag)
      expect([answer.status, answer.json.sessmgr_settings]).toEqual([200, whole({ ...theirs, maximum: 7 })])
    }
    await host.registry.options.delete('sessmgr_settings')
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const answer = await write(SITE, { sessmgr_settings: { maximum: 7 } }, await tagOf(), method)
      expect([answer.status, answer.json.sessmgr_settings], method).toEqual([200, whole({ maximum: 7 })])
      expect((await write(SETTINGS, { maximum: 8 }, answer.headers.etag)).json).toEqual(whole({ maximum: 8 }))
    }
  })

  it('is refused, with both values of all that somebody else has changed, and writes nothing', async () => {
    const [tag, own] = [await tagOf(), await tagOf(SETTINGS)]
    await write(SITE, { sessmgr_settings: { maximum: 42, logic: 'allow' }, text_addon: 'deux' })
    const before = await stored()
    const mine = { pair_addon: { a: 7 }, sessmgr_settings: { maximum: 7, logic: 'ask' }, text_addon: 'zwei' }
    const several = await write(SITE, mine, tag)
    expect([several.status, several.json.code, several.json.data]).toEqual([
      409,
      'settings_changed',
      {
        status: 409,
        changed: {
          'sessmgr_settings.maximum': { current: 42, requested: 7 },
          'sessmgr_settings.logic': { current: 'allow', requested: 'ask' },
          text_addon: { current: 'deux', requested: 'zwei' },
        },
      },
    ])
    const one = await write(SETTINGS, { maximum: 7 }, own)
    expect([one.status, one.json.data?.changed]).toEqual([409, { maximum: { current: 42, requested: 7 } }])
    expect(await stored()).toEqual(before)
  })

  it('takes an option of very many keys as a whole, so the tag fits into a header', async () => {
    const tag = await tagOf()
    expect(tag.length).toBeLessThan(300)
    await write(SITE, { many_addon: { key1: 42 } })
    const answer = await write(SITE, { many_addon: { key0: 7 } }, tag)
    expect([answer.status, Object.keys(answer.json.data.changed)]).toEqual([409, ['many_addon']])
    expect((await write(SITE, { many_addon: { key0: 7 } }, await tagOf())).status).toBe(200)
  })

  it('knows its tag after a proxy has weakened or lengthened it, takes * for any, and nothing that nobody made', async () => {
    for (const change of [(tag: string) => `W/${tag}`, (tag: string) => tag.replace(/"$/, '-gzip"'), () => '*']) {
      expect((await write(SETTINGS, { maximum: 7 }, change(await tagOf()))).status).toBe(200)
      expect((await write(SETTINGS, { maximum: 8 }, change(await tagOf()))).status).toBe(200)
    }
    expect((await write(SETTINGS, { maximum: 9 }, '"nonsense"')).status).toBe(409)
  })

  it('loses no change of those that come at the same moment', async () => {
    const tag = await tagOf()
    const answers = await Promise.all([1, 2, 3].map((n) => write(SETTINGS, { maximum: n }, tag)))
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status)
    expect([winner?.status, ...others.map(({ status }) => status)]).toEqual([200, 409, 409])
    expect((await read(SETTINGS)).maximum).toBe(winner?.json.maximum)
  })
})
