import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createHooks } from '../../../src/hooks/hooks.ts'
import { allow } from '../../../src/strategies/allow.ts'
import { block } from '../../../src/strategies/block.ts'
import type { LimitStrategy } from '../../../src/strategies/limit-strategy.ts'
import { createLogicModes } from '../../../src/strategies/logic-catalogue.ts'
import { ENGLISH } from '../../../src/texts/english.ts'

const createTestHooks = () => createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })

const askFirst: LimitStrategy = {
  id: 'ask_first',
  label: 'Ask First',
  desc: 'The user chooses which session ends.',
  decide: () => ({ admit: false, end: [], actions: [] }),
}

describe('the logic catalogue', () => {
  it('has the built-in modes with their labels, and a description of each', async () => {
    const catalogue = await createLogicModes(createTestHooks()).catalogue()
    const labels = Object.fromEntries(Object.entries(catalogue).map(([id, { label }]) => [id, label]))
    expect(labels).toEqual({
      allow: 'Logout All',
      logout_oldest: 'Logout Oldest',
      logout_idlest: 'Logout Longest Unused',
      block: 'Block New',
      ask: 'Let the User Choose',
    })
    for (const entry of Object.values(catalogue)) {
      expect(Object.keys(entry).sort()).toEqual(['desc', 'label'])
      expect(entry.desc).toMatch(/\.$/)
    }
    const translated = Object.entries(catalogue).flatMap(([id, { label, desc }]) => [
      [`logic_${id}`, label],
      [`logic_${id}_desc`, desc],
    ])
    expect(ENGLISH).toMatchObject(Object.fromEntries(translated))
    const setting = readFileSync(join(import.meta.dirname, '../../../src/options/setting-rules.ts'), 'utf8')
    for (const id of Object.keys(catalogue)) {
      expect(setting, 'the type of the setting').toContain(`'${id}'`)
      expect(setting, 'the docstring of the setting').toContain(`\`${id}\``)
    }
  })

  it('takes allow for what no strategy has', () => {
    for (const logic of ['', 'Allow', 'nothing', '__proto__', 'constructor']) {
      expect(createLogicModes(createTestHooks()).strategyOf(logic), logic).toBe(allow)
    }
  })

  it('has the modes that an application adds, also in place of a built-in one with the same id', async () => {
    const strict = { ...block, label: 'Strict' }
    const modes = createLogicModes(createTestHooks(), [askFirst, strict])
    expect([modes.strategyOf('ask_first'), modes.strategyOf('block')]).toEqual([askFirst, strict])
    const catalogue = await modes.catalogue()
    expect(catalogue.ask_first).toEqual({ label: askFirst.label, desc: askFirst.desc })
    expect(catalogue.block?.label).toBe('Strict')
  })
})
