import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { forThisFile } from '../../../support/for-this-file.ts'
import { startRestHost } from '../../../support/rest-host.ts'
import { rounds } from '../../../support/rounds.ts'
import { BUILT_IN_LOGICS } from '../../../support/whole-settings.ts'
import { jsonText } from './json-text.ts'

const BATCH = 25
const BODIES = rounds(300)
const TARGETS: [path: string, likely: readonly string[]][] = [
  ['/sessmgr/v1/settings', ['maximum', 'logic']],
  ['/wp/v2/settings', ['sessmgr_settings']],
  ['/sessmgr/v1/sessions/destroy', ['user']],
]
const ownNames = () =>
  [Object.prototype, Array.prototype, Function.prototype].flatMap((one) => Reflect.ownKeys(one).map(String)).join()
const settings = z.strictObject({
  maximum: z.int().min(1),
  logic: z.enum(BUILT_IN_LOGICS as [string, ...string[]]),
  idle_release: z.union([z.literal(0), z.int().min(300)]),
  max_age: z.union([z.literal(0), z.int().min(60).max(34_560_000)]),
  enforce: z.boolean(),
})
const data = z.strictObject({ status: z.int(), params: z.record(z.string(), z.string()).optional() })
const errorShape = z.strictObject({
  code: z.string().regex(/^(rest|missing|user)_\w+$/),
  message: z.string().min(1),
  data,
})
const host = forThisFile(() => startRestHost({ sessmgr: { settings: { maximum: 9 } } }))

it(`${BODIES} bodies that nobody has asked for do no harm, and store nothing that is invalid`, async () => {
  const headers = { ...(await host.scriptOf('admin')), 'content-type': 'application/json' }
  const prototypes = ownNames()
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
        const stored = (await host.registry.options.get('sessmgr_settings'))?.value ?? {}
        expect(settings.partial().safeParse(stored).error).toBeUndefined()
        expect(settings.safeParse(await host.limiter.settings.get()).error).toBeUndefined()
      }),
      { numRuns: BODIES / TARGETS.length / BATCH },
    )
  }
  expect(host.logs.filter(([line]) => !String(line).startsWith('Stored settings override'))).toEqual([])
})
