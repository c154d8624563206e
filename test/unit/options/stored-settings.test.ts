import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { createService } from '../../support/settings-service.ts'
import { BUILT_IN_LOGICS, wholeSettings } from '../../support/whole-settings.ts'

const OPTION = 'sessmgr_settings'

describe('rule 37: what is stored', () => {
  const stored = async ({ options }: ReturnType<typeof createService>) => (await options.get(OPTION))?.value

  it('is only what was set, and a process with other defaults adds nothing to it', async () => {
    const store = memoryStore()
    const app = createService({ maximum: 5, logic: 'block' }, BUILT_IN_LOGICS, store)
    const command = createService({}, BUILT_IN_LOGICS, store)
    expect(await command.settings.update({ maximum: 3 })).toEqual(wholeSettings({ maximum: 3, logic: 'allow' }))
    expect(await stored(app)).toEqual({ maximum: 3 })
    expect(await app.settings.get()).toEqual(wholeSettings({ maximum: 3, logic: 'block' }))
    await app.settings.option.update({ logic: 'logout_oldest' })
    expect(await stored(app)).toEqual({ maximum: 3, logic: 'logout_oldest' })
  })

  it('keeps its meaning where a whole object was stored before', async () => {
    const service = createService({ maximum: 5, logic: 'block' })
    await service.options.set(OPTION, { maximum: 1, logic: 'allow' })
    expect(await service.settings.get()).toEqual(wholeSettings({ maximum: 1, logic: 'allow' }))
    await service.settings.update({ maximum: 2 })
    expect(await stored(service)).toEqual({ maximum: 2, logic: 'allow' })
  })

  it('keeps a stored mode that this process does not know, unless it is asked to change it', async () => {
    const service = createService()
    await service.options.set(OPTION, { logic: 'by_role' })
    expect(await service.settings.update({ maximum: 3 })).toEqual(wholeSettings({ maximum: 3, logic: 'by_role' }))
    expect(await stored(service)).toEqual({ maximum: 3, logic: 'by_role' })
  })

  it('has what the pre-update filter changed beside the key that was asked for', async () => {
    const service = createService()
    service.hooks.addFilter('pre_update_option_sessmgr_settings', 'pair', (value) => ({
      ...(value as object),
      logic: 'block',
    }))
    await service.settings.update({ maximum: 3 })
    expect(await stored(service)).toEqual({ maximum: 3, logic: 'block' })
  })

  it('is given back to the code, key by key or whole', async () => {
    const service = createService({ maximum: 5, logic: 'block' })
    await service.settings.update({ maximum: 3, logic: 'allow' })
    expect(await service.settings.reset('maximum')).toEqual(wholeSettings({ maximum: 5, logic: 'allow' }))
    expect(await stored(service)).toEqual({ logic: 'allow' })
    expect(await service.settings.reset('maximum')).toEqual(wholeSettings({ maximum: 5, logic: 'allow' }))
    expect(await service.settings.reset()).toEqual(wholeSettings({ maximum: 5, logic: 'block' }))
    expect(await stored(service)).toBeUndefined()
    await expect(service.settings.reset('maximun' as 'maximum')).rejects.toMatchObject({
      code: 'invalid_setting',
      message: 'Invalid settings: maximun is unknown (did you mean "maximum"?). Nothing was changed.',
    })
  })

  it('is told apart from the defaults', async () => {
    const { hooks, options, settings } = createService({ logic: 'block' })
    hooks.addFilter('sessmgr_settings_defaults', 'ns', (defaults) => ({ ...defaults, maximum: 4 }))
    const defaults = wholeSettings({ maximum: 4, logic: 'block' })
    expect(await settings.option.sources()).toEqual({ stored: undefined, defaults })
    await settings.update({ maximum: 3 })
    expect(await settings.option.sources()).toEqual({ stored: { maximum: 3 }, defaults })
    await options.set(OPTION, { maximum: 0 })
    expect(await settings.option.sources()).toEqual({ stored: { maximum: 1 }, defaults })
  })
})

describe('rule 41: a mode without code', () => {
  const added = { by_role: { label: 'By role', desc: '' } }
  const requestedOf = (value: unknown, requested: unknown) =>
    (requested as { logic?: string }).logic === 'by_role' ? { ...(value as object), logic: 'by_role' } : value

  function withMode() {
    const service = createService({ logic: 'block' })
    service.hooks.addFilter('sessmgr_logics', 'ns', (logics) => ({ ...logics, ...added }))
    const filter = (callback: (value: unknown, old: unknown, requested?: unknown) => unknown) =>
      service.hooks.addFilter('pre_update_option_sessmgr_settings', 'ns', callback)
    return { ...service, filter }
  }

  it('is not kept for the sake of a subscriber that only looks on', async () => {
    const { settings, options, filter } = withMode()
    const seen: unknown[][] = []
    filter((...given) => {
      seen.push(given)
      return given[0]
    })
    await expect(settings.update({ logic: 'by_role' })).rejects.toMatchObject({
      code: 'invalid_setting',
      message:
        'Invalid settings: logic must be one of logout_oldest, logout_idlest, allow, block, ask. Nothing was changed.',
    })
    expect(await options.get(OPTION)).toBeUndefined()
    expect(await settings.option.update({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 1, logic: 'allow' }))
    const old = wholeSettings({ logic: 'block' })
    expect(seen.at(-1)).toEqual([wholeSettings({ maximum: 1, logic: 'allow' }), old, { logic: 'by_role' }])
  })

  it('is kept when the filter returns it, and stays when another key is changed', async () => {
    const { settings, filter } = withMode()
    filter((value, _old, requested) => requestedOf(value, requested))
    expect(await settings.update({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 1, logic: 'by_role' }))
    expect(await settings.option.update({ logic: 'by_role' })).toEqual(wholeSettings({ maximum: 1, logic: 'by_role' }))
    expect(await settings.update({ maximum: 2 })).toEqual(wholeSettings({ maximum: 2, logic: 'by_role' }))
  })

  it('is refused when the catalogue does not have it, whatever the filter returns', async () => {
    const { settings, filter } = withMode()
    filter((value) => ({ ...(value as object), logic: 'nope' }))
    expect(await settings.option.update({ maximum: 2 })).toEqual(wholeSettings({ maximum: 2, logic: 'allow' }))
  })
})
