import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sanitizeSettings } from '../../../src/options/setting-rules.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { createService } from '../../support/settings-service.ts'
import { BUILT_IN_LOGICS, wholeSettings } from '../../support/whole-settings.ts'

const OPTION = 'sessmgr_settings'

/** Parses JSON, in which `__proto__` is a key like any other. */
const parsed = (json: string) => JSON.parse(json) as Record<string, unknown>
const storedIn = async ({ options }: ReturnType<typeof createService>) => (await options.get(OPTION))?.value

describe('reading the settings', () => {
  it('rule 1: gives maximum 1 and logic allow by default, without idle release, enforced, whatever is stored', async () => {
    const defaults = { maximum: 1, logic: 'allow', idle_release: 0, max_age: 0, enforce: true }
    const { options, settings } = createService()
    expect(await settings.get()).toEqual(defaults)
    for (const stored of ['text', 7, null, true, { idle_release: 'soon', enforce: 'maybe' }]) {
      await options.set(OPTION, stored)
      expect(await settings.get(), JSON.stringify(stored)).toEqual(defaults)
    }
    await options.set(OPTION, { idle_release: 10, enforce: false })
    expect(await settings.get()).toEqual({ ...defaults, idle_release: 300, enforce: false })
  })

  it('gives what is stored first, then sessmgr_settings_defaults, in part too, and then the code', async () => {
    const { options, hooks, settings } = createService({ maximum: 4, logic: 'block' })
    const seen: unknown[] = []
    hooks.addFilter('sessmgr_settings_defaults', 'ns', (defaults) => {
      seen.push(defaults)
      return { maximum: 9 }
    })
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 9, logic: 'block' }))
    expect(seen).toEqual([wholeSettings({ maximum: 4, logic: 'block' })])
    await options.set(OPTION, { maximum: 3, logic: 'logout_oldest' })
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'logout_oldest' }))
  })

  it('rule 65: corrects what sessmgr_settings_defaults returns, as any other value', async () => {
    const { hooks, settings } = createService({ maximum: 2, logic: 'block' })
    const add = (name: string, more: object) =>
      hooks.addFilter('sessmgr_settings_defaults', name, (defaults) => ({ ...defaults, ...more }) as never)
    add('nonsense', { logic: 'nonsense', maximum: '7', idle_release: -5, enforce: 'maybe', colour: 'red' })
    const corrected = { maximum: 7, logic: 'allow', idle_release: 0, max_age: 0, enforce: true, colour: 'red' }
    expect(await settings.get()).toEqual(corrected)
    hooks.addFilter('sessmgr_logics', 'test', (logics) => ({ ...logics, mine: { label: 'Mine', desc: 'My own.' } }))
    add('mine', { logic: 'mine' })
    expect((await settings.get()).logic).toBe('mine')
    add('missing', { logic: undefined, maximum: undefined })
    expect(await settings.get()).toEqual({ ...corrected, logic: 'block', maximum: 2 })
  })

  it('rule 65: is not changed for good by a subscriber that changes the object it was given', async () => {
    const { hooks, settings } = createService({ maximum: 2 })
    const off = hooks.addFilter('sessmgr_settings_defaults', 'rude', (defaults) => {
      Object.assign(defaults, { maximum: 9 })
      return defaults
    })
    expect((await settings.get()).maximum).toBe(9)
    off()
    expect((await settings.get()).maximum).toBe(2)
  })
})

describe('updating the settings', () => {
  it('takes back all that was read, and drops what an add-on keeps beside the settings', async () => {
    const service = createService()
    await service.options.set(OPTION, { maximum: 2, color: 'red' })
    const read = await service.settings.get()
    expect(read).toMatchObject({ color: 'red' })
    expect(await service.settings.update({ ...read, maximum: 3 })).toEqual(wholeSettings({ maximum: 3 }))
    expect(await storedIn(service)).toEqual(wholeSettings({ maximum: 3 }))
  })

  // Which values are refused over REST: behaviour/rest/settings/settings.test.ts.
  it('refuses what is no value or no key, names each with the one that was meant, and writes nothing', async () => {
    const service = createService()
    const logics = 'logic must be one of logout_oldest, logout_idlest, allow, block, ask'
    const hostile = '{"__proto__":{"maximum":99,"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const noObject = 'settings must be an object such as { maximum: 2 }'
    const idle =
      'must be 0, or 300 seconds or more, because the last use of a session is recorded only every few minutes'
    const age = 'must be 0 for never, or from 60 to 34560000 seconds (400 days)'
    for (const [changes, problems] of [
      [{ maximum: 0, logic: 'x' }, `maximum must be a whole number, 1 or more; ${logics}`],
      [{ maximum: 2 ** 53 }, 'maximum must be at most 9007199254740991'],
      [{ maximum: 2, idle_release: 299 }, `idle_release ${idle}`],
      ...[59, 34_560_001, 60.5, '60s', 's60', 1e21].map((max_age) => [{ max_age }, `max_age ${age}`] as const),
      [
        { maximun: 2, color: undefined, logic: 'block' },
        'maximun is unknown (did you mean "maximum"?); color is unknown',
      ],
      [parsed(hostile), '__proto__ is unknown; constructor is unknown'],
      ...[null, undefined, 'text', [2]].map((given) => [given, noObject] as const),
    ] as const) {
      const message = `Invalid settings: ${problems}. Nothing was changed.`
      const refusal = { code: 'invalid_setting', message }
      await expect(service.settings.update(changes as never), problems).rejects.toMatchObject(refusal)
    }
    const params = { idle_release: idle }
    await expect(service.settings.update({ idle_release: 1 })).rejects.toMatchObject({ params })
    const forms = { maximum: '3', idle_release: '300', max_age: '34560000', enforce: 'false' } as never
    expect(await createService().settings.update(forms)).toMatchObject({ max_age: 34_560_000, enforce: false })
    await expect(service.settings.update({ enforce: 'no' } as never)).rejects.toMatchObject({ code: 'invalid_setting' })
    await expect(service.settings.reset('maximun' as 'maximum')).rejects.toMatchObject({ code: 'invalid_setting' })
    expect(await storedIn(service)).toBeUndefined()
    await service.options.set(OPTION, parsed('{"__proto__":{"maximum":99,"polluted":1}}'))
    expect(await service.settings.get()).toMatchObject({ maximum: 1, logic: 'allow' })
    expect({}).not.toHaveProperty('polluted')
  })

  it('rule 22: shows the whole new value to the pre-update filter, and stores what that changes as well', async () => {
    const service = createService({}, [...BUILT_IN_LOGICS, 'by_role'])
    const seen: unknown[] = []
    service.hooks.addFilter('pre_update_option_sessmgr_settings', 'roles', (value, old) => {
      seen.push([value, old])
      return { ...(value as object), logic: 'block' }
    })
    expect(await service.settings.update({ logic: 'by_role' })).toEqual(wholeSettings({ logic: 'block' }))
    expect(seen).toEqual([[wholeSettings({ logic: 'by_role' }), wholeSettings()]])
    await service.settings.update({ maximum: 3 })
    expect(await storedIn(service)).toEqual({ maximum: 3, logic: 'block' })
  })
})

describe('rule 37: what is stored', () => {
  it('is only what was set, and a process with other defaults adds nothing to it', async () => {
    const store = memoryStore()
    const app = createService({ maximum: 5, logic: 'block' }, BUILT_IN_LOGICS, store)
    const command = createService({}, BUILT_IN_LOGICS, store)
    expect(await command.settings.update({ maximum: 3 })).toEqual(wholeSettings({ maximum: 3, logic: 'allow' }))
    expect(await storedIn(app)).toEqual({ maximum: 3 })
    expect(await app.settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'block' }))
    await app.settings.option.update({ logic: 'logout_oldest' })
    expect(await storedIn(app)).toEqual({ maximum: 3, logic: 'logout_oldest' })
  })

  it('rule 41: keeps a mode that this process does not know, unless it is asked to change it; takes no other', async () => {
    const service = createService()
    await service.options.set(OPTION, { logic: 'by_role' })
    expect(await service.settings.update({ maximum: 3 })).toEqual(wholeSettings({ maximum: 3, logic: 'by_role' }))
    expect(await storedIn(service)).toEqual({ maximum: 3, logic: 'by_role' })
    service.hooks.addFilter('pre_update_option_sessmgr_settings', 'ns', (value) => ({
      ...(value as object),
      logic: 'nope',
    }))
    expect(await service.settings.option.update({ maximum: 2 })).toEqual(wholeSettings({ maximum: 2, logic: 'allow' }))
  })

  it('is told apart from the defaults', async () => {
    const { hooks, options, settings } = createService({ logic: 'block' })
    hooks.addFilter('sessmgr_settings_defaults', 'ns', (defaults) => ({ ...defaults, maximum: 4 }))
    const defaults = wholeSettings({ maximum: 4, logic: 'block' })
    expect(await settings.option.sources()).toEqual({ stored: undefined, defaults })
    await options.set(OPTION, { maximum: 0 })
    expect(await settings.option.sources()).toEqual({ stored: { maximum: 1 }, defaults })
  })
})

describe('sanitising settings', () => {
  const fallback = wholeSettings({ maximum: 3, logic: 'block', idle_release: 900, enforce: false })
  const sanitize = (value: unknown) => sanitizeSettings(value, fallback, BUILT_IN_LOGICS)

  it('brings a maximum and an idle release to the nearest that is allowed, and takes the fallback for the rest', () => {
    for (const [maximum, expected] of [
      [-5, 1],
      [2.9, 2],
      ['7', 7],
      ['x', 1],
      [Number.NaN, 1],
      [{ toString: 1, valueOf: 1 }, 1],
    ] as const) {
      expect(sanitize({ maximum }), `maximum ${JSON.stringify(maximum)}`).toEqual({ ...fallback, maximum: expected })
    }
    for (const [idle_release, expected] of [
      [0, 0],
      [1, 300],
      [299.9, 300],
      ['900', 900],
      [true, 0],
      [1e300, Number.MAX_SAFE_INTEGER],
    ] as const) {
      expect(sanitize({ idle_release }), `${idle_release}`).toEqual({ ...fallback, idle_release: expected })
    }
    expect(sanitize(parsed('{"__proto__":{"maximum":99,"logic":"allow"}}'))).toEqual(fallback)
  })

  it('makes valid settings of any JSON', () => {
    const any = fc.option(fc.jsonValue(), { nil: undefined })
    fc.assert(
      fc.property(
        fc.oneof(any, fc.record({ maximum: any, logic: any, idle_release: any, max_age: any, enforce: any })),
        (value) => {
          const { maximum, logic, idle_release, max_age, enforce, ...rest } = sanitize(value)
          expect(Number.isSafeInteger(maximum) && maximum >= 1).toBe(true)
          expect(BUILT_IN_LOGICS).toContain(logic)
          expect(idle_release === 0 || (Number.isSafeInteger(idle_release) && idle_release >= 300)).toBe(true)
          expect(max_age === 0 || (Number.isSafeInteger(max_age) && max_age >= 60 && max_age <= 34_560_000)).toBe(true)
          expect(enforce).toBeTypeOf('boolean')
          expect(rest).toEqual({})
        },
      ),
    )
  })
})
