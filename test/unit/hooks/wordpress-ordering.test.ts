import * as wordpress from '@wordpress/hooks'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHooks } from '../../../src/hooks/hooks.ts'
import { rounds } from '../../support/rounds.ts'

/** One step of a program that is run on both buses. */
type Step =
  | { readonly kind: 'add'; readonly namespace: string; readonly priority: number | undefined; readonly async: boolean }
  | { readonly kind: 'remove'; readonly namespace: string }
  | { readonly kind: 'run' }

const namespace = fc.constantFrom('a', 'b/c', 'd.e')
const priority = fc.option(fc.oneof(fc.integer({ min: 8, max: 12 }), fc.constantFrom(-1, 0, 9.5, 1000)), {
  nil: undefined,
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), namespace, priority, async: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), namespace }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('run' as const) }) },
)
const steps = fc.array(step, { maxLength: 30, size: 'max' })

/** What a bus must offer to be compared: `mark` is what a subscriber leaves when it runs. */
interface Comparable {
  add(namespace: string, mark: string, priority: number | undefined, async: boolean): void
  remove(namespace: string): number | undefined
  has(namespace: string): boolean
  did(): number | undefined
  run(): Promise<unknown>
}

async function play(bus: Comparable, program: readonly Step[]): Promise<unknown[]> {
  const seen: unknown[] = []
  for (const [index, step] of [...program, { kind: 'run' } as const].entries()) {
    if (step.kind === 'add') bus.add(step.namespace, `#${index}`, step.priority, step.async)
    else if (step.kind === 'remove') seen.push(bus.remove(step.namespace) ?? 0, bus.has(step.namespace))
    else seen.push(await bus.run(), bus.did())
  }
  return seen
}

const createOurs = () => createHooks({ logger: { warn() {}, error() {} }, deadlineMs: 1000 })

/** Runs a callback at once, or a little later. */
const maybeLater = <T>(later: boolean, body: () => T): T | Promise<T> => (later ? Promise.resolve().then(body) : body())

function ourActions(): Comparable {
  const hooks = createOurs()
  let calls: string[] = []
  return {
    add(namespace, mark, priority, async) {
      hooks.addAction('lazycomments_activated', namespace, () => maybeLater(async, () => calls.push(mark)), priority)
    },
    remove: (namespace) => hooks.removeAction('lazycomments_activated', namespace),
    has: (namespace) => hooks.hasAction('lazycomments_activated', namespace),
    did: () => hooks.didAction('lazycomments_activated'),
    async run() {
      calls = []
      await hooks.doAction('lazycomments_activated')
      return calls
    },
  }
}

function theirActions(): Comparable {
  const hooks = wordpress.createHooks()
  let calls: string[] = []
  return {
    add(namespace, mark, priority, async) {
      hooks.addAction('hook', namespace, () => maybeLater(async, () => calls.push(mark)), priority)
    },
    remove: (namespace) => hooks.removeAction('hook', namespace),
    has: (namespace) => hooks.hasAction('hook', namespace),
    did: () => hooks.didAction('hook'),
    async run() {
      calls = []
      await hooks.doActionAsync('hook')
      return calls
    },
  }
}

function ourFilters(): Comparable {
  const hooks = createOurs()
  return {
    add(namespace, mark, priority, async) {
      const callback = (value: string) => maybeLater(async, () => `${value}${mark}`)
      hooks.addFilter('sessmgr_error_message', namespace, callback, priority)
    },
    remove: (namespace) => hooks.removeFilter('sessmgr_error_message', namespace),
    has: (namespace) => hooks.hasFilter('sessmgr_error_message', namespace),
    did: () => hooks.didFilter('sessmgr_error_message'),
    run: () => hooks.applyFilters('sessmgr_error_message', ''),
  }
}

function theirFilters(): Comparable {
  const hooks = wordpress.createHooks()
  return {
    add(namespace, mark, priority, async) {
      const callback = (value: string) => maybeLater(async, () => `${value}${mark}`)
      hooks.addFilter('hook', namespace, callback, priority)
    },
    remove: (namespace) => hooks.removeFilter('hook', namespace),
    has: (namespace) => hooks.hasFilter('hook', namespace),
    did: () => hooks.didFilter('hook'),
    run: async () => hooks.applyFiltersAsync('hook', ''),
  }
}

describe('the order of subscribers', () => {
  it('is that of @wordpress/hooks for actions', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (program) => {
        expect(await play(ourActions(), program)).toEqual(await play(theirActions(), program))
      }),
      { numRuns: rounds(100) },
    )
  })

  it('is that of @wordpress/hooks for filters, and so is the result', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (program) => {
        expect(await play(ourFilters(), program)).toEqual(await play(theirFilters(), program))
      }),
      { numRuns: rounds(100) },
    )
  })
})
