import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import * as mini from 'zod/mini'
import { createHooks } from '../../../src/hooks/hooks.ts'
import { memoryStore, type OptionDefinition } from '../../../src/index.ts'
import { createOptionRegistry } from '../../../src/options/option-registry.ts'
import type { OptionStore } from '../../../src/options/option-store.ts'

const COLOURS = { schema: z.object({ text: z.string(), back: z.string() }), default: { text: 'black', back: 'white' } }

function setUp(options: OptionStore = memoryStore().options) {
  const hooks = createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })
  return { options, hooks, registry: createOptionRegistry(options, hooks, []) }
}

describe('registering an option', () => {
  const refused = (name: unknown, definition: unknown, message: string | RegExp) => {
    const { registry } = setUp()
    const register = () => registry.register(name as string, definition as OptionDefinition<unknown>)
    expect(register, String(name)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    expect(register).toThrow(message)
    expect(registry.get(name as string)).toBeUndefined()
  }

  it('refuses what is no name, no schema, or a default that its own schema does not take', () => {
    const names = [
      '',
      'Colours',
      'my-colours',
      '1st',
      '_x',
      'a b',
      '__proto__',
      'na\u00efve',
      'a\n',
      'sessmgr.secret',
      null,
      {},
    ]
    for (const name of names) refused(name, COLOURS, /option name must be a lowercase letter/)
    for (const definition of [undefined, null, {}, { schema: {} }, { schema: () => true }]) {
      refused('colours', definition, /"colours" option needs a schema/)
    }
    const message = /default of the "colours" option does not match its schema/
    refused('colours', { ...COLOURS, default: { text: 5 } }, message)
  })

  it('refuses a name that is taken, and leaves the first one as it is', () => {
    const { registry } = setUp()
    const first = registry.register('colours', COLOURS)
    const again = () => registry.register('colours', { ...COLOURS, rest: true })
    expect(again).toThrow('The "colours" option already exists.')
    expect(registry.get('colours')).toBe(first)
    expect(registry.exposed()).toEqual([])
  })

  it('takes any schema with safeParse, of zod or of zod/mini', async () => {
    const { registry } = setUp()
    const schema = mini.object({ on: mini.boolean() })
    const option = registry.register('feature', { schema, default: { on: false } })
    expect(await option.update({ on: true })).toEqual({ on: true })
    const own = registry.register('answer', {
      schema: { safeParse: (value) => ({ success: true, data: Number(value) }) },
      default: 1,
    })
    expect(await own.update('42')).toBe(42)
  })
})

describe('an option of an add-on', () => {
  it('is replaced whole when it is no object', async () => {
    const { registry } = setUp()
    const list = registry.register('list', { schema: z.array(z.number()), default: [1, 2, 3] })
    expect(await list.update([9])).toEqual([9])
    const title = registry.register('title', { schema: z.string(), default: '' })
    expect(await title.update('Hello')).toBe('Hello')
    const either = registry.register('either', { schema: z.union([z.string(), z.null()]), default: null })
    expect(await either.update('x')).toBe('x')
    expect(await either.update(null)).toBeNull()
  })

  it('refuses what is no object where it is one, and a key that it does not have, and keeps its value', async () => {
    const { registry, options } = setUp()
    const option = registry.register('colours', COLOURS)
    for (const value of [5, 'text', null, [1], true]) {
      const params = { colours: 'must be an object' }
      await expect(option.update(value), `${value}`).rejects.toMatchObject({ code: 'invalid_setting', params })
    }
    for (const key of ['txt', '__proto__']) {
      const params = Object.fromEntries([[key, 'is unknown']])
      await expect(option.reset(key)).rejects.toMatchObject({ code: 'invalid_setting', params })
    }
    expect(await options.get('colours')).toBeUndefined()
  })

  it('names every bad value with its place, and writes nothing', async () => {
    const { registry, options } = setUp()
    const option = registry.register('colours', COLOURS)
    await expect(option.update({ text: 1, back: 2 })).rejects.toMatchObject({
      code: 'invalid_setting',
      message: expect.stringMatching(/^colours\.text: .*; colours\.back: .*\. Nothing was changed\.$/),
      params: { 'colours.text': expect.any(String), 'colours.back': expect.any(String) },
    })
    expect(await options.get('colours')).toBeUndefined()
  })

  it('repairs a value before its schema looks at it, and is told the current one', async () => {
    const { registry } = setUp()
    const seen: unknown[] = []
    const volume = registry.register('volume', {
      schema: z.object({ level: z.int().min(0).max(10) }),
      default: { level: 5 },
      sanitize(value, current) {
        seen.push(current)
        return { level: Math.max(0, Math.min(10, Number((value as { level: unknown }).level))) }
      },
    })
    expect(await volume.update({ level: 99 })).toEqual({ level: 10 })
    expect(await volume.update({ level: -1 })).toEqual({ level: 0 })
    expect(seen).toEqual([{ level: 5 }, { level: 10 }])
  })

  it('can still be read and mended when what is stored fits its schema no longer', async () => {
    const { registry, options } = setUp()
    await options.set('colours', { text: 5, back: ['old'] })
    const option = registry.register('colours', { ...COLOURS, rest: true })
    expect(await option.get()).toEqual(COLOURS.default)
    expect(await option.update({ text: 'red' })).toEqual({ text: 'red', back: 'white' })
  })

  it('is not fooled by __proto__', async () => {
    const { registry, options } = setUp()
    const option = registry.register('colours', COLOURS)
    const hostile = JSON.parse('{"__proto__":{"text":"red","polluted":1},"constructor":{"prototype":{"polluted":1}}}')
    expect(await option.update(hostile)).toEqual(COLOURS.default)
    expect(await options.get('colours')).toBeUndefined()
    expect({}).not.toHaveProperty('polluted')
  })
})
