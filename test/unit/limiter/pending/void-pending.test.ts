import { expect, it, vi } from 'vitest'
import { Erasures } from '../../../../src/auth/erasures.ts'
import { SiteSecrets } from '../../../../src/auth/site-secrets.ts'
import { PendingLogins } from '../../../../src/limiter/pending/pending-logins.ts'
import { endWithPending, pendingMark } from '../../../../src/limiter/pending/void-pending.ts'
import { memoryStore } from '../../../../src/stores/memory/memory-store.ts'
import { withPrivateTransients } from '../../../../src/stores/private-transients.ts'
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
  const context = {
    store: { ...store, transients: full },
    erasures: new Erasures(store),
    logger: { warn: log, error: log },
  }
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

it.each([0, 1])(
  'leaves no mark of a user who is erased meanwhile, after %d failures of the store',
  async (failures) => {
    const { context, end } = fullStore(failures)
    const { transients } = context.store
    await endWithPending(context, 7, async () => {
      await context.erasures.begin(7)
      return end()
    })
    expect(await pendingMark({ transients }, 7)).toBeUndefined()
  },
)

it('mends a mark that cannot be read, so that logins can wait again', async () => {
  const store = memoryStore()
  const set = vi.spyOn(store.transients, 'set')
  const sealed = withPrivateTransients(store, new SiteSecrets(store.options, []))
  const pending = new PendingLogins(sealed)
  const early = await pending.open(7, 60_000)
  const [key = ''] = set.mock.calls.find(([name]) => name.startsWith('pending:void:')) ?? []
  await store.transients.set(key, 'damaged', 60_000)
  expect(await pending.read(early)).toBeUndefined()
  expect(await pending.read(await pending.open(7, 60_000))).toMatchObject({
    userId: 7,
    mark: expect.stringMatching(/./),
  })
  expect(await pending.read(early)).toBeUndefined()
})
