import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

describe('sessmgr()', () => {
  it('fires sessmgr_init once, with itself, when everything is wired and the application has subscribed', async () => {
    const limiter = sessmgr()
    const cores: unknown[] = []
    limiter.hooks.addAction('sessmgr_init', 'test', async (core) => {
      cores.push(core)
      expect(await limiter.settings.get()).toEqual(wholeSettings({ maximum: 1, logic: 'allow' }))
    })
    await nextTurn()
    await nextTurn()
    expect(cores).toEqual([limiter])
    expect(limiter.hooks.didAction('sessmgr_init')).toBe(1)
    await limiter.close()
  })

  it('blames the line that calls it for an invalid option, as Node prints the first line of the stack', () => {
    let stack = ''
    try {
      sessmgr({ setings: {} } as object)
    } catch (error) {
      stack = (error as Error).stack ?? ''
    }
    expect(stack).toMatch(/There is no option "setings"[^\n]*\n\s+at [^\n]*sessmgr\.test\.ts/)
  })
})
