import { expect, it } from 'vitest'
import { endWithPending, pendingMark } from '../../../../src/limiter/pending/void-pending.ts'
import { memoryStore } from '../../../../src/stores/memory/memory-store.ts'
import type { SessmgrStore } from '../../../../src/stores/store.ts'

/** A store that cannot store strings for some calls, and what was logged. */
function fullStore(failures: number) {
  const store = memoryStore()
  const { transients } = store
  const calls: string[] = []
  const set: SessmgrStore['transients']['set'] = async (...call) => {
    calls.push('mark')
    if (calls.filter((name) => name === 'mark').length <= failures) throw new Error('out of memory')
    return transients.set(...call)
  }
  const full = new Proxy(transients, {
    get: (_, name) => (name === 'set' ? set : Reflect.get(transients, name).bind(transients)),
  })
  const logged: unknown[][] = []
  const log = (...line: unknown[]) => void logged.push(line)
  const context = { store: { ...store, transients: full }, logger: { warn: log, error: log } }
  const end = async () => {
    calls.push('end')
    return 'ended'
  }
  return { context, calls, logged, end }
}

it.each([
  [0, ['mark', 'end']],
  [1, ['mark', 'end', 'mark']],
])('ends sessions and makes pending logins void, even if the store fails %d times', async (failures, expected) => {
  const { context, calls, logged, end } = fullStore(failures)
  expect(await endWithPending(context, 7, end)).toBe('ended')
  expect(calls).toEqual(expected)
  expect(await pendingMark(context.store, 7)).toBeDefined()
  expect(logged).toEqual([])
})

it('ends sessions if the store accepts no mark at all, and warns', async () => {
  const { context, logged, end } = fullStore(2)
  expect(await endWithPending(context, 7, end)).toBe('ended')
  expect(logged).toEqual([[expect.stringContaining('could not be made void'), { error: 'out of memory' }]])
})
