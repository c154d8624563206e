import { describe, expect, it } from 'vitest'
import { filterAtOnce, fireAtOnce } from '../../../src/hooks/bus.ts'
import { createHooks, hookCatalogue } from '../../../src/hooks/hooks.ts'

/** Every action of the specifications with its parameters, and the release that brought it where one is given. */
const ACTIONS: Record<string, [parameters: string[], since?: string]> = {
  sessmgr_init: [['core']],
  sessmgr_login_blocked: [['user_id']],
  sessmgr_destroy_all_sessions: [['user_id']],
  sessmgr_destroy_oldest_session: [['user_id']],
  sessmgr_destroy_session: [['user_id', 'token'], '3.1.0'],
  sessmgr_logout_all_users: [['epoch'], '3.3.0'],
  sessmgr_session_invalidated: [['user_id', 'token'], '3.3.0'],
  sessmgr_session_started: [['session', 'how'], '3.3.0'],
  sessmgr_session_ended: [['session', 'end'], '3.3.0'],
  sessmgr_login_refused: [['user_id', 'refusal'], '3.3.0'],
  sessmgr_would_limit: [['user_id', 'report'], '3.3.0'],
  sessmgr_new_device: [['session', 'about'], '3.3.0'],
  sessmgr_user_erased: [['user_id'], '4.0.0'],
  sessmgr_cli_init: [['cli'], '3.1.0'],
  lazycomments_init: [['core']],
  lazycomments_activated: [[]],
  lazycomments_deactivated: [[]],
}

/**
 * Every filter of the two specifications, the two of the host that they name, and `sessmgr_maximum`, by which an add-on
 * that changes the verdict tells the mode its limit; the value comes first.
 */
const FILTERS: Record<string, string[]> = {
  sessmgr_settings_defaults: ['defaults'],
  sessmgr_logics: ['logics'],
  sessmgr_admin_script_vars: ['vars'],
  sessmgr_register_addon: ['addons'],
  sessmgr_addons_catalog: ['items', 'raw'],
  sessmgr_reached_limit: ['reached', 'user_id', 'count'],
  sessmgr_bypass: ['bypass', 'user_id'],
  sessmgr_enforce: ['enforce', 'user_id'],
  sessmgr_maximum: ['maximum', 'user_id'],
  sessmgr_error_message: ['message'],
  auth_cookie_expiration: ['seconds', 'user_id', 'remember'],
  'pre_update_option_{name}': ['value', 'old_value', 'requested'],
  lazycomments_can_lazy_load: ['can'],
  lazycomments_rendered_html: ['html', 'post'],
  lazycomments_default_settings: ['defaults'],
  lazycomments_capability: ['capability'],
  lazycomments_has_access: ['has_access'],
}

const entries = [...Object.entries(hookCatalogue.actions), ...Object.entries(hookCatalogue.filters)]

const parametersOf = (hooks: Record<string, { parameters: readonly string[] }>) =>
  Object.fromEntries(Object.entries(hooks).map(([name, { parameters }]) => [name, parameters]))

describe('the hook catalogue', () => {
  it('has exactly the actions of the specifications, with their parameters', () => {
    const expected = Object.fromEntries(Object.entries(ACTIONS).map(([name, [parameters]]) => [name, parameters]))
    expect(parametersOf(hookCatalogue.actions)).toEqual(expected)
  })

  it('has exactly these filters, with their parameters', () => {
    expect(parametersOf(hookCatalogue.filters)).toEqual(FILTERS)
  })

  it('has no name twice', () => {
    expect(new Set(entries.map(([name]) => name)).size).toBe(entries.length)
  })

  it('names the release that brought a hook', () => {
    for (const [name, [, since]] of Object.entries(ACTIONS)) {
      const entry = hookCatalogue.actions[name as keyof typeof hookCatalogue.actions]
      if (since) expect(entry.since, name).toBe(since)
    }
    for (const [name, { since }] of entries) expect(since, name).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it('says of every hook in one sentence what it is for', () => {
    for (const [name, { summary }] of entries) expect(summary, name).toMatch(/^[A-Z].{10,}\.$/)
  })

  it('is known to the bus as a whole', () => {
    const hooks = createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 100 })
    for (const name of Object.keys(ACTIONS)) expect(hooks.hasAction(name as 'sessmgr_init'), name).toBe(false)
    for (const name of Object.keys(FILTERS)) expect(hooks.hasFilter(name as 'sessmgr_bypass'), name).toBe(false)
  })
})

describe('a hook to which nobody subscribes', () => {
  it('has its result at once and counts the run, but is no other for who subscribes', async () => {
    const hooks = createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })
    expect(filterAtOnce(hooks, 'sessmgr_bypass', false, 7)).toBe(false)
    expect(fireAtOnce(hooks, 'sessmgr_login_blocked', [7])).toBeUndefined()
    expect([hooks.didFilter('sessmgr_bypass'), hooks.didAction('sessmgr_login_blocked')]).toEqual([1, 1])
    const blocked: unknown[] = []
    hooks.addFilter('sessmgr_bypass', 'test', () => true)
    hooks.addAction('sessmgr_login_blocked', 'test', (userId) => void blocked.push(userId))
    expect(await filterAtOnce(hooks, 'sessmgr_bypass', false, 7)).toBe(true)
    await fireAtOnce(hooks, 'sessmgr_login_blocked', [7])
    expect(blocked).toEqual([7])
    await expect(fireAtOnce(hooks, 'unknown', [])).rejects.toThrow('There is no action "unknown"')
  })
})
