import { describe, expect, it } from 'vitest'
import { filterAtOnce, fireAtOnce } from '../../../src/hooks/bus.ts'
import { createHooks, hookCatalogue } from '../../../src/hooks/hooks.ts'

const entries = [...Object.entries(hookCatalogue.actions), ...Object.entries(hookCatalogue.filters)]

describe('the hook catalogue', () => {
  it('says of every hook in one sentence what it is for', () => {
    for (const [name, { summary }] of entries) expect(summary, name).toMatch(/^[A-Z].{10,}\.$/)
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
