import * as z from 'zod/mini'
import { type RestServices, restRoute } from './rest-route.ts'

const PATH = '/wp/v2/settings'
const ANY_OPTIONS = z.record(z.string(), z.unknown())

async function current({ limiter }: RestServices): Promise<object> {
  const entries = limiter.options.exposed().map(async (option) => [option.name, await option.get()] as const)
  return Object.fromEntries(await Promise.all(entries))
}

/** Reads every option that is exposed. */
export const readSiteSettingsRoute = restRoute({
  methods: ['GET'],
  path: PATH,
  summary: 'Reads every registered option that is exposed over REST.',
  access: 'manage_options',
  schemas: () => ({ params: z.object({}), response: ANY_OPTIONS }),
  handle: ({ services }) => current(services),
})

/** Changes exposed options; a name that is not one of them is dropped. */
export const writeSiteSettingsRoute = restRoute<Record<string, unknown>>({
  methods: ['POST', 'PUT', 'PATCH'],
  path: PATH,
  summary: 'Changes registered options. Partial objects are merged over the current values, and values are sanitised.',
  access: 'manage_options',
  schemas: () => ({ params: ANY_OPTIONS, response: ANY_OPTIONS }),
  async handle({ services, params }) {
    const changed = services.limiter.options.exposed().filter(({ name }) => Object.hasOwn(params, name))
    // Checked all before the first is written, so that one bad value leaves everything as it is.
    if (changed.length > 1) for (const option of changed) await option.check(params[option.name])
    for (const option of changed) await option.update(params[option.name])
    return current(services)
  },
})
