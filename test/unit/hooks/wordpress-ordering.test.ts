import * as wordpress from '@wordpress/hooks'
import fc from 'fast-check'
import { expect, it } from 'vitest'
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

type Bus = ReturnType<typeof wordpress.createHooks>

function actions(hooks: Bus, name: string, run: () => Promise<unknown>): Comparable {
  let calls: string[] = []
  return {
    add(namespace, mark, priority, async) {
      hooks.addAction(name, namespace, () => maybeLater(async, () => calls.push(mark)), priority)
    },
    remove: (namespace) => hooks.removeAction(name, namespace),
    has: (namespace) => hooks.hasAction(name, namespace),
    did: () => hooks.didAction(name),
    async run() {
      calls = []
      await run()
      return calls
    },
  }
}

/** The calls of our bus, whose types know more than those of `@wordpress/hooks`. */
const asTheirs = (hooks: ReturnType<typeof createOurs>) => hooks as unknown as Bus

function ourActions(): Comparable {
  const hooks = createOurs()
  return actions(asTheirs(hooks), 'lazycomments_activated', () => hooks.doAction('lazycomments_activated'))
}

function theirActions(): Comparable {
  const hooks = wordpress.createHooks()
  return actions(hooks, 'hook', async () => hooks.doActionAsync('hook'))
}

// Filters have the same lists of subscribers: behaviour/logins/hooks.test.ts.
it('the order of subscribers is that of @wordpress/hooks', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (program) => {
      expect(await play(ourActions(), program)).toEqual(await play(theirActions(), program))
    }),
    { numRuns: rounds(100) },
  )
})
