import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../support/for-this-file.ts'
import { startRestHost } from '../../support/rest-host.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

const SITE = '/wp/v2/settings'
const SETTINGS = '/sessmgr/v1/settings'

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 100, logic: 'allow' } } }))
const script = forThisFile(() => host.scriptOf('admin'))
const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`key${index}`, index]))
beforeAll(() => {
  const { options } = host.limiter
  options.register('text_addon', { schema: z.string(), default: 'two', rest: true })
  options.register('many_addon', { schema: z.record(z.string(), z.int()), default: many, rest: true })
})
const NAMES = ['sessmgr_settings', 'text_addon', 'many_addon']
beforeEach(async () => {
  for (const name of NAMES) await host.registry.options.delete(name)
})

const tagOf = async (path = SITE) => String((await host.call('GET', path, { headers: script })).headers.etag)
const write = (path: string, json: unknown, tag?: string, method = 'POST') =>
  host.call(method, path, { headers: { ...script, ...(tag === undefined ? {} : { 'if-match': tag }) }, json })
const stored = () => Promise.all(NAMES.map(async (name) => (await host.registry.options.get(name))?.value))

describe('a write with If-Match', () => {
  it.each(['POST', 'PUT', 'PATCH'])('by %s goes through while nothing has changed', async (method) => {
    const answer = await write(SITE, { sessmgr_settings: { maximum: 7 } }, await tagOf(), method)
    expect([answer.status, answer.json.sessmgr_settings]).toEqual([200, wholeSettings({ maximum: 7, logic: 'allow' })])
    expect(answer.headers.etag).toBe(await tagOf())
    const next = await write(SETTINGS, { maximum: 8 }, answer.headers.etag)
    expect([next.status, next.json]).toEqual([200, wholeSettings({ maximum: 8, logic: 'allow' })])
  })

  it('is refused, with both values, where somebody else has changed the same key meanwhile', async () => {
    const tag = await tagOf()
    await write(SETTINGS, { maximum: 42, logic: 'block' })
    const before = await stored()
    const answer = await write(SITE, { sessmgr_settings: { maximum: 7 } }, tag)
    expect([answer.status, answer.json.code]).toEqual([409, 'settings_changed'])
    expect(answer.json.data).toEqual({
      status: 409,
      changed: { 'sessmgr_settings.maximum': { current: 42, requested: 7 } },
    })
    expect(await stored()).toEqual(before)
  })

  it('names the keys of /settings as that route does', async () => {
    const tag = await tagOf(SETTINGS)
    await write(SETTINGS, { maximum: 42, logic: 'block' })
    const answer = await write(SETTINGS, { maximum: 7, logic: 'logout_oldest' }, tag)
    expect(answer.status).toBe(409)
    expect(answer.json.data.changed).toEqual({
      maximum: { current: 42, requested: 7 },
      logic: { current: 'block', requested: 'logout_oldest' },
    })
  })

  it('is saved where another key has changed, and the answer shows that too', async () => {
    const tag = await tagOf()
    await write(SETTINGS, { logic: 'block' })
    const answer = await write(SITE, { sessmgr_settings: { maximum: 7 } }, tag)
    expect([answer.status, answer.json.sessmgr_settings]).toEqual([200, wholeSettings({ maximum: 7, logic: 'block' })])
  })

  it('is saved where somebody else has changed the key to the same value', async () => {
    const tag = await tagOf()
    await write(SETTINGS, { maximum: 7 })
    expect((await write(SITE, { sessmgr_settings: { maximum: 7 } }, tag)).status).toBe(200)
  })

  it('of several options writes none of them when one has changed, and names all that have', async () => {
    const tag = await tagOf()
    await write(SITE, { sessmgr_settings: { maximum: 42 }, text_addon: 'deux' })
    const before = await stored()
    const mine = { many_addon: { key0: 7 }, sessmgr_settings: { maximum: 7, logic: 'block' }, text_addon: 'zwei' }
    const answer = await write(SITE, mine, tag)
    expect(answer.status).toBe(409)
    expect(answer.json.data.changed).toEqual({
      'sessmgr_settings.maximum': { current: 42, requested: 7 },
      text_addon: { current: 'deux', requested: 'zwei' },
    })
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

  it('knows its tag again after a proxy has weakened it or put something behind it', async () => {
    for (const change of [(tag: string) => `W/${tag}`, (tag: string) => tag.replace(/"$/, '-gzip"')]) {
      expect((await write(SETTINGS, { maximum: 7 }, change(await tagOf()))).status).toBe(200)
      expect((await write(SETTINGS, { maximum: 8 }, change(await tagOf()))).status).toBe(200)
    }
  })

  it('goes through with * whatever has changed, and not with a tag that nobody made', async () => {
    await write(SETTINGS, { maximum: 42 })
    expect((await write(SETTINGS, { maximum: 7 }, '*')).status).toBe(200)
    expect((await write(SETTINGS, { maximum: 8 }, '"nonsense"')).status).toBe(409)
  })

  it('loses no change of two that come at the same moment', async () => {
    const tag = await tagOf()
    const answers = await Promise.all([1, 2, 3].map((n) => write(SETTINGS, { maximum: n }, tag)))
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status)
    expect([winner?.status, ...others.map(({ status }) => status)]).toEqual([200, 409, 409])
    expect((await write(SETTINGS, { logic: 'allow' })).json.maximum).toBe(winner?.json.maximum)
  })
})

describe('a write without a body', () => {
  it.each([SETTINGS, SITE])('to %s says that it changes nothing', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH']) {
      const answer = await host.call(method, `${path}?maximum=2`, { headers: script })
      expect([answer.status, answer.json.code]).toEqual([400, 'rest_invalid_param'])
      expect(answer.json.data.params.body).toMatch(/must be a JSON object/)
    }
    expect(await stored()).toEqual([undefined, undefined, undefined])
  })

  it('is noticed behind a body parser of the application too', async () => {
    const behind = await startRestHost({ parsers: 'before' })
    const headers = await behind.scriptOf('admin')
    const without = await behind.call('POST', `${SETTINGS}?maximum=2`, { headers })
    const withOne = await behind.call('POST', SETTINGS, { headers, json: { maximum: 2 } })
    await behind.close()
    expect([without.status, withOne.status]).toEqual([400, 200])
  })
})
