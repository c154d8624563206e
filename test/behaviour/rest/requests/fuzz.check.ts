import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../../support/for-this-file.ts'
import { jsonText } from '../../../support/json-text.ts'
import type { RestAnswer } from '../../../support/rest-client.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { rounds } from '../../../support/rounds.ts'
import { BUILT_IN_LOGICS } from '../../../support/whole-settings.ts'

const BATCH = 25
const BODIES = rounds(300)
const TARGETS: [path: string, likely: readonly string[]][] = [
  ['/sessmgr/v1/settings', ['maximum', 'logic']],
  ['/wp/v2/settings', ['sessmgr_settings', 'fuzzed_addon']],
  ['/sessmgr/v1/sessions/destroy', ['user']],
  ['/sessmgr/v1/sessions/destroy-all', ['user', 'token']],
]

/** What the calls do changes settings that the code gives, and logs everybody out over a store of this process. */
const EXPECTED_LOGS = /^(Stored settings override|Every user was logged out, but a restart)/

const ownNames = () =>
  [Object.prototype, Array.prototype, Function.prototype].flatMap((one) => Reflect.ownKeys(one).map(String)).join()
const prototypes = ownNames()

/** Every value that was written to the store, by the name of its option. */
const written: [name: string, value: unknown][] = []

const addon = z.strictObject({ text: z.string(), nested: z.strictObject({ a: z.number() }) })
const settings = z.strictObject({
  maximum: z.int().min(1),
  logic: z.enum(BUILT_IN_LOGICS as [string, ...string[]]),
  idle_release: z.union([z.literal(0), z.int().min(300)]),
  enforce: z.boolean(),
})
/** Storage keeps only what was set. */
const stored = settings.partial()
const errorShape = z.strictObject({
  code: z.string().regex(/^(rest|missing|user|session)_\w+$/),
  message: z.string().min(1),
  data: z.strictObject({ status: z.int(), params: z.record(z.string(), z.string()).optional() }),
})

const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 9 } } }))
beforeAll(() => {
  const { options } = host.registry
  const swap = options.swap.bind(options)
  options.swap = (name, revision, value) => {
    written.push([name, structuredClone(value)])
    return swap(name, revision, value)
  }
  host.limiter.options.register('fuzzed_addon', {
    rest: true,
    default: { text: '', nested: { a: 0 } },
    // Drops what it does not know, as most schemas do.
    schema: z.object({ text: z.string(), nested: z.object({ a: z.number() }) }),
  })
})
const headers = forThisFile(async () => ({ ...(await host.scriptOf('admin')), 'content-type': 'application/json' }))
beforeEach(async () => {
  await host.registry.options.delete('sessmgr_settings')
  for (const { id } of host.users) await host.limiter.sessions.endAll(id)
})

function expectOrderly(body: string, answer: RestAnswer): void {
  expect([200, 400, 404], body).toContain(answer.status)
  if (answer.status === 200) return
  const error = errorShape.safeParse(answer.json)
  expect(error.success && error.data.data.status === answer.status, `${body} -> ${answer.text}`).toBe(true)
}

describe(`${BODIES} bodies that nobody has asked for`, () => {
  it.each(TARGETS)('do no harm as POST %s', async (path, likely) => {
    const tally: Record<number, number> = {}
    const runs = BODIES / TARGETS.length / BATCH
    await fc.assert(
      fc.asyncProperty(fc.array(jsonText(likely), { minLength: BATCH, maxLength: BATCH }), async (bodies) => {
        written.length = 0
        const answers = await Promise.all(bodies.map((body) => host.call('POST', path, { headers, body })))
        for (const [index, answer] of answers.entries()) {
          expectOrderly(bodies[index] ?? '', answer)
          tally[answer.status] = (tally[answer.status] ?? 0) + 1
        }
        expect(ownNames()).toBe(prototypes)
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
        for (const [name, value] of written) {
          expect(['sessmgr_settings', 'fuzzed_addon']).toContain(name)
          const schema = name === 'fuzzed_addon' ? addon.partial() : stored
          expect(schema.safeParse(value).success, JSON.stringify(value)).toBe(true)
        }
        expect(settings.safeParse(await host.limiter.settings.get()).success).toBe(true)
      }),
      { numRuns: runs },
    )
    // Both what is fine and what is not was among them. Among the few of `npm test`, what is fine is a matter of chance.
    for (const status of BODIES < 3000 ? [400] : [200, 400]) {
      expect(tally[status], String(status)).toBeGreaterThan(BODIES / TARGETS.length / 100)
    }
    expect(host.logs.filter(([line]) => !EXPECTED_LOGS.test(String(line)))).toEqual([])
  })
})
