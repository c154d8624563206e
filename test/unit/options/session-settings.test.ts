import { describe, expect, it } from 'vitest'
import { createService } from '../../support/settings-service.ts'
import { BUILT_IN_LOGICS, wholeSettings } from '../../support/whole-settings.ts'

const OPTION = 'sessmgr_settings'

/** Parses JSON, in which `__proto__` is a key like any other. */
const parsed = (json: string) => JSON.parse(json) as Record<string, unknown>

describe('reading the settings', () => {
  it('rule 1: gives maximum 1 and logic allow by default, without idle release, enforced', async () => {
    const defaults = { maximum: 1, logic: 'allow', idle_release: 0, enforce: true }
    expect(await createService().settings.get()).toEqual(defaults)
  })

  it('gives what is stored before anything else', async () => {
    const { options, hooks, settings } = createService({ maximum: 4, logic: 'block' })
    hooks.addFilter('sessmgr_settings_defaults', 'ns', (defaults) => ({ ...defaults, maximum: 9, logic: 'allow' }))
    await options.set(OPTION, { maximum: 3 })
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'allow' }))
    await options.set(OPTION, { maximum: 3, logic: 'logout_oldest' })
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'logout_oldest' }))
  })

  it('lets the filter sessmgr_settings_defaults change the defaults, in part too', async () => {
    const { hooks, settings } = createService({ logic: 'block' })
    const seen: unknown[] = []
    hooks.addFilter('sessmgr_settings_defaults', 'ns', (defaults) => {
      seen.push(defaults)
      return { maximum: 5 }
    })
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 5, logic: 'block' }))
    expect(seen).toEqual([wholeSettings({ maximum: 1, logic: 'block' })])
  })

  it('rule 65: corrects what sessmgr_settings_defaults returns, as any other value', async () => {
    const { hooks, settings } = createService({ maximum: 2, logic: 'block' })
    const add = (name: string, more: object) =>
      hooks.addFilter('sessmgr_settings_defaults', name, (defaults) => ({ ...defaults, ...more }) as never)
    add('nonsense', { logic: 'nonsense', maximum: '7', idle_release: -5, enforce: 'maybe', colour: 'red' })
    const corrected = { maximum: 7, logic: 'allow', idle_release: 0, enforce: true, colour: 'red' }
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

  it('repairs a stored idle release, and enforces the limit unless "enforce" is false', async () => {
    const { options, settings } = createService()
    await options.set(OPTION, { idle_release: 'soon', enforce: 'maybe' })
    expect(await settings.get()).toEqual(wholeSettings())
    await options.set(OPTION, { idle_release: 10, enforce: false })
    expect(await settings.get()).toEqual(wholeSettings({ idle_release: 300, enforce: false }))
  })

  it.each(['text', 7, null, true])('takes the defaults when the stored option is %j', async (stored) => {
    const { options, settings } = createService({ maximum: 2 })
    await options.set(OPTION, stored)
    expect(await settings.get()).toMatchObject({ maximum: 2, logic: 'allow' })
  })
})

describe('updating the settings', () => {
  it('changes the given keys, keeps the others and returns the whole', async () => {
    const { settings } = createService()
    expect(await settings.update({ maximum: 3 })).toEqual(wholeSettings({ maximum: 3, logic: 'allow' }))
    expect(await settings.update({ logic: 'block' })).toEqual(wholeSettings({ maximum: 3, logic: 'block' }))
    expect(await settings.update({})).toEqual(wholeSettings({ maximum: 3, logic: 'block' }))
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'block' }))
  })

  it.each(['4', '004'])('takes the digits %j for a number', async (maximum) => {
    expect((await createService().settings.update({ maximum })).maximum).toBe(4)
  })

  it('rule 1: takes a maximum up to the largest safe integer', async () => {
    const { settings } = createService()
    const largest = Number.MAX_SAFE_INTEGER
    expect((await settings.update({ maximum: largest })).maximum).toBe(largest)
    expect((await settings.update({ maximum: String(largest) })).maximum).toBe(largest)
    await expect(settings.update({ maximum: largest + 1 })).rejects.toMatchObject({ code: 'invalid_setting' })
  })

  it('refuses an unknown key, names the one that was probably meant, and writes nothing', async () => {
    const { options, settings } = createService()
    const changes = { maximun: 2, color: undefined, logic: 'block' } as { logic: string }
    await expect(settings.update(changes)).rejects.toMatchObject({
      code: 'invalid_setting',
      message: 'Invalid settings: maximun is unknown (did you mean "maximum"?); color is unknown. Nothing was changed.',
      params: { maximun: 'is unknown (did you mean "maximum"?)', color: 'is unknown' },
    })
    expect(await options.get(OPTION)).toBeUndefined()
  })

  it('takes back all that was read, and drops what an add-on keeps beside the settings', async () => {
    const { options, settings } = createService()
    await options.set(OPTION, { maximum: 2, color: 'red' })
    const read = await settings.get()
    expect(read).toMatchObject({ color: 'red' })
    expect(await settings.update({ ...read, maximum: 3 })).toEqual(wholeSettings({ maximum: 3, logic: 'allow' }))
    expect((await options.get(OPTION))?.value).toEqual(wholeSettings({ maximum: 3 }))
  })

  it.each([
    0,
    -1,
    1.5,
    Number.NaN,
    2 ** 53,
    '',
    ' 3',
    '1e3',
    '-2',
    '3.0',
    '9007199254740993',
    'x',
    true,
    null,
    [2],
    {},
  ])('refuses the maximum %j, says so, and writes nothing', async (maximum) => {
    const { options, settings } = createService()
    const update = settings.update({ maximum, logic: 'block' })
    await expect(update).rejects.toMatchObject({
      code: 'invalid_setting',
      message: expect.stringMatching(/^Invalid settings: maximum .* Nothing was changed\.$/),
    })
    expect(await options.get(OPTION)).toBeUndefined()
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 1, logic: 'allow' }))
  })

  it.each(['nothing', '', 'Allow', 5, null, true, {}, '__proto__'])(
    'refuses the logic %j, names the known ones, and writes nothing',
    async (logic) => {
      const { options, settings } = createService()
      const message =
        'Invalid settings: logic must be one of logout_oldest, logout_idlest, allow, block, ask. Nothing was changed.'
      await expect(settings.update({ maximum: 2, logic })).rejects.toMatchObject({ code: 'invalid_setting', message })
      expect(await options.get(OPTION)).toBeUndefined()
    },
  )

  it.each([1, 299, -300, 300.5, Number.NaN, '', '299', '1h', null, true, [900]])(
    'refuses the idle release %j with the reason, and writes nothing',
    async (idle_release) => {
      const { options, settings } = createService()
      const problem =
        'must be 0, or 300 seconds or more, because the last use of a session is recorded only every few minutes'
      await expect(settings.update({ maximum: 2, idle_release })).rejects.toMatchObject({
        code: 'invalid_setting',
        message: `Invalid settings: idle_release ${problem}. Nothing was changed.`,
        params: { idle_release: problem },
      })
      expect(await options.get(OPTION)).toBeUndefined()
    },
  )

  it('names every bad key at once, in the sentence and as data', async () => {
    const update = createService().settings.update({ maximum: 0, logic: 'x' })
    await expect(update).rejects.toMatchObject({
      message: expect.stringMatching(/maximum must be a whole number, 1 or more; logic must be one of/),
      params: {
        maximum: 'must be a whole number, 1 or more',
        logic: expect.stringMatching(/^must be one of logout_oldest/),
      },
    })
  })

  it('loses none of two changes that are made at the same time', async () => {
    const { settings } = createService()
    await Promise.all([settings.update({ maximum: 5 }), settings.update({ logic: 'block' })])
    expect(await settings.get()).toEqual(wholeSettings({ maximum: 5, logic: 'block' }))
  })

  it('rule 22: shows the whole new value to the pre-update filter, which may change it', async () => {
    const { hooks, settings } = createService({}, [...BUILT_IN_LOGICS, 'by_role'])
    const seen: unknown[] = []
    hooks.addFilter('pre_update_option_sessmgr_settings', 'roles', (value, old) => {
      seen.push([value, old])
      return { ...(value as object), logic: 'block' }
    })
    expect(await settings.update({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 1, logic: 'block' }))
    expect(seen).toEqual([[wholeSettings({ logic: 'by_role' }), wholeSettings()]])
  })

  it.each([null, undefined, 'text', 5, [2]])('refuses %j, which is no object', async (changes) => {
    const { options, settings } = createService()
    await expect(settings.update(changes as never)).rejects.toMatchObject({
      code: 'invalid_setting',
      message: 'Invalid settings: settings must be an object such as { maximum: 2 }. Nothing was changed.',
    })
    expect(await options.get(OPTION)).toBeUndefined()
  })

  it('is not fooled by __proto__ and its relatives', async () => {
    const { options, settings } = createService()
    const hostile = parsed('{"__proto__":{"maximum":99,"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
    await expect(settings.update(hostile)).rejects.toMatchObject({
      code: 'invalid_setting',
      message: expect.stringMatching(/__proto__ is unknown; constructor is unknown/),
    })
    expect(await options.get(OPTION)).toBeUndefined()
    await options.set(OPTION, parsed('{"__proto__":{"maximum":99,"polluted":1}}'))
    const read = await settings.get()
    expect([read.maximum, read.logic]).toEqual([1, 'allow'])
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('saving the settings as an option', () => {
  it('rule 22: repairs what an update refuses, keeps omitted keys, and drops unknown ones', async () => {
    const { option } = createService({ maximum: 4, logic: 'block' }).settings
    expect(await option.update({ maximum: 0, color: 'red' })).toEqual(wholeSettings({ maximum: 1, logic: 'block' }))
    expect(await option.update({ logic: 'nothing' })).toEqual(wholeSettings({ maximum: 1, logic: 'allow' }))
  })
})
