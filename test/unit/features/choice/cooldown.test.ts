import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Cooldown } from '../../../../src/features/choice/cooldown.ts'
import { voidPending } from '../../../../src/limiter/pending/void-pending.ts'
import { memoryStore } from '../../../../src/stores/memory/memory-store.ts'

const MINUTE = 60_000

function coolWorld(count: number, minutes: number) {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const store = memoryStore()
  return {
    store,
    cooldown: new Cooldown(store, { count, minutes }),
    pass: (ms: number) => vi.setSystemTime(Date.now() + ms),
  }
}

describe('the cool-down', () => {
  it('begins at the last allowed choice, and ends when the first is old enough, to the millisecond', async () => {
    const { cooldown, pass } = coolWorld(2, 60)
    const first = Date.now()
    await cooldown.note(7)
    expect(await cooldown.until(7)).toBeUndefined()
    pass(10 * MINUTE)
    await cooldown.note(7)
    expect(await cooldown.until(7)).toBe(first + 60 * MINUTE)
    expect(await cooldown.until(8)).toBeUndefined()
    pass(50 * MINUTE - 1)
    expect(await cooldown.until(7)).toBe(first + 60 * MINUTE)
    pass(1)
    expect(await cooldown.until(7)).toBeUndefined()
    await cooldown.note(7)
    expect(await cooldown.until(7)).toBe(first + 70 * MINUTE)
  })

  it('counts every one of concurrent choices', async () => {
    const { cooldown } = coolWorld(5, 60)
    await Promise.all(Array.from({ length: 5 }, () => cooldown.note(7)))
    expect(await cooldown.until(7)).toBeDefined()
  })

  it('starts again after a password change, and stays so', async () => {
    const { cooldown, store, pass } = coolWorld(1, 1440)
    await cooldown.note(7)
    await voidPending(store, 7)
    expect(await cooldown.until(7)).toBeUndefined()
    await cooldown.note(7)
    expect(await cooldown.until(7)).toBeDefined()
    await voidPending(store, 7)
    pass(1440 * MINUTE)
    expect(await cooldown.until(7)).toBeUndefined()
  })

  it('is off without the option', async () => {
    const cooldown = new Cooldown(memoryStore(), undefined)
    await cooldown.note(7)
    expect(await cooldown.until(7)).toBeUndefined()
  })
})
