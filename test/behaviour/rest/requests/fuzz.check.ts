import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../../support/for-this-file.ts'
import { jsonText } from '../../../support/json-text.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { rounds } from '../../../support/rounds.ts'
import { BUILT_IN_LOGICS } from '../../../support/whole-settings.ts'

const BATCH = 25
const BODIES = rounds(300)
const TARGETS: [path: string, likely: readonly string[]][] = [
  ['/sessmgr/v1/settings', ['maximum', 'logic']],
  ['/wp/v2/settings', ['sessmgr_settings', 'fuzzed_addon']],
  ['/sessmgr/v1/sessions/destroy', ['user']],
]
/** What the calls do changes settings that the code gives. */
const EXPECTED_LOGS = /^Stored settings override/

const ownNames = () =>
  [Object.prototype, Array.prototype, Function.prototype].flatMap((one) => Reflect.ownKeys(one).map(String)).join()
const addon = z.strictObject({ text: z.string(), nested: z.strictObject({ a: z.number() }) })
const settings = z.strictObject({
  maximum: z.int().min(1),
  logic: z.enum(BUILT_IN_LOGICS as [string, ...string[]]),
  idle_release: z.union([z.literal(0), z.int().min(300)]),
  enforce: z.boolean(),
})
const errorShape = z.strictObject({
  code: z.string().regex(/^(rest|missing|user|session)_\w+$/),
  message: z.string().min(1),
  data: z.strictObject({ status: z.int(), params: z.record(z.string(), z.string()).optional() }),
})
const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 9 } } }))

it(`${BODIES} bodies that nobody has asked for do no harm, and store nothing that is invalid`, async () => {
  host.limiter.options.register('fuzzed_addon', {
    rest: true,
    default: { text: '', nested: { a: 0 } },
    // Drops what it does not know, as most schemas do.
    schema: z.object({ text: z.string(), nested: z.object({ a: z.number() }) }),
  })
  const headers = { ...(await host.scriptOf('admin')), 'content-type': 'application/json' }
  const prototypes = ownNames()
  const stored = async (name: string) => (await host.registry.options.get(name))?.value ?? {}
  for (const [path, likely] of TARGETS) {
    const batch = fc.array(jsonText(likely), { minLength: BATCH, maxLength: BATCH })
    await fc.assert(
      fc.asyncProperty(batch, async (bodies) => {
        const answers = await Promise.all(bodies.map((body) => host.call('POST', path, { headers, body })))
        for (const [index, { status, text, json }] of answers.entries()) {
          const what = `${path} ${bodies[index]} -> ${text}`
          expect([200, 400, 404], what).toContain(status)
          if (status !== 200) expect(errorShape.safeParse(json).data?.data.status, what).toBe(status)
        }
        expect(ownNames()).toBe(prototypes)
        expect(settings.partial().safeParse(await stored('sessmgr_settings')).error).toBeUndefined()
        expect(addon.partial().safeParse(await stored('fuzzed_addon')).error).toBeUndefined()
        expect(settings.safeParse(await host.limiter.settings.get()).error).toBeUndefined()
      }),
      { numRuns: BODIES / TARGETS.length / BATCH },
    )
  }
  expect(host.logs.filter(([line]) => !EXPECTED_LOGS.test(String(line)))).toEqual([])
})
