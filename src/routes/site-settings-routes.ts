import * as z from 'zod/mini'
import type { OptionRegistry } from '../options/option-registry.ts'
import { optionTag } from '../options/option-tag.ts'
import type { Caller } from './authenticate-caller.ts'
import type { OptionAccess } from './option-access.ts'
import { refuseIfChanged } from './refuse-if-changed.ts'
import { RestAnswer } from './rest-answer.ts'
import { type RestRoute, restRoute } from './rest-route.ts'

const ANY_OPTIONS = z.record(z.string(), z.unknown())

/** Reads and changes every option that is exposed over REST. */
export function siteSettingsRoutes(options: OptionRegistry, optionAccess: OptionAccess): readonly RestRoute[] {
  const path = '/wp/v2/settings'
  const access = optionAccess.list

  async function current(caller: Caller | undefined): Promise<RestAnswer> {
    const entries = (await optionAccess.list(caller)).map(async (option) => [option.name, await option.get()] as const)
    const values: Record<string, unknown> = Object.fromEntries(await Promise.all(entries))
    return RestAnswer.json(values, { headers: { ETag: optionTag(values) } })
  }

  return [
    restRoute({
      methods: ['GET'],
      path,
      summary: 'Reads every registered option that is exposed over REST.',
      access,
      schemas: () => ({ params: z.object({}), response: ANY_OPTIONS }),
      handle: ({ caller }) => current(caller),
    }),
    restRoute<Record<string, unknown>>({
      methods: ['POST', 'PUT', 'PATCH'],
      path,
      summary:
        'Changes registered options. Partial objects are merged over the current values, and values are sanitised.',
      access,
      schemas: () => ({ params: ANY_OPTIONS, response: ANY_OPTIONS }),
      needsBody: true,
      async handle({ params, request, caller }) {
        // A name that is not an exposed option is dropped.
        const changed = options.exposed().filter(({ name }) => Object.hasOwn(params, name))
        for (const option of changed) await optionAccess.require(caller, option)
        const writeTo = (name: string, current: unknown) => ({ name, current, requested: params[name], prefix: name })
        // Checked all before the first is written, so that one bad value leaves everything as it is.
        if (changed.length > 1) {
          const writes = changed.map(async ({ name, get }) => writeTo(name, await get()))
          refuseIfChanged(request, await Promise.all(writes))
          for (const option of changed) await option.check(params[option.name])
        }
        for (const { name, update } of changed) {
          await update(params[name], (current) => refuseIfChanged(request, [writeTo(name, current)]))
        }
        return current(caller)
      },
    }),
  ]
}
