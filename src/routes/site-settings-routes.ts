import * as z from 'zod/mini'
import type { OptionRegistry } from '../options/option-registry.ts'
import { type RestRoute, restRoute } from './rest-route.ts'

const ANY_OPTIONS = z.record(z.string(), z.unknown())

/** Reads and changes every option that is exposed over REST. */
export function siteSettingsRoutes(options: OptionRegistry): readonly RestRoute[] {
  const path = '/wp/v2/settings'
  const access = 'manage_options'

  async function current(): Promise<object> {
    const entries = options.exposed().map(async (option) => [option.name, await option.get()] as const)
    return Object.fromEntries(await Promise.all(entries))
  }

  return [
    restRoute({
      methods: ['GET'],
      path,
      summary: 'Reads every registered option that is exposed over REST.',
      access,
      schemas: () => ({ params: z.object({}), response: ANY_OPTIONS }),
      handle: current,
    }),
    restRoute<Record<string, unknown>>({
      methods: ['POST', 'PUT', 'PATCH'],
      path,
      summary:
        'Changes registered options. Partial objects are merged over the current values, and values are sanitised.',
      access,
      schemas: () => ({ params: ANY_OPTIONS, response: ANY_OPTIONS }),
      async handle({ params }) {
        // A name that is not an exposed option is dropped.
        const changed = options.exposed().filter(({ name }) => Object.hasOwn(params, name))
        // Checked all before the first is written, so that one bad value leaves everything as it is.
        if (changed.length > 1) for (const option of changed) await option.check(params[option.name])
        for (const option of changed) await option.update(params[option.name])
        return current()
      },
    }),
  ]
}
