import * as z from 'zod/mini'
import type { SessionSettings } from '../options/session-settings.ts'
import { type RestServices, restRoute } from './rest-route.ts'

const PATH = '/sessmgr/v1/settings'

const WHOLE_NUMBER = 'must be a whole number, 1 or more'
const wholeNumber = z.int(WHOLE_NUMBER).check(z.minimum(1, WHOLE_NUMBER))
const digits = z.string().check(z.regex(/^0*[1-9]\d*$/, WHOLE_NUMBER))

async function schemas({ limiter }: RestServices) {
  const logics = Object.keys(await limiter.modes.catalogue()) as [string, ...string[]]
  return {
    params: z.object({
      maximum: z.optional(z.union([wholeNumber, digits], WHOLE_NUMBER)),
      logic: z.optional(z.enum(logics, `must be one of ${logics.join(', ')}`)),
    }),
    response: z.object({ maximum: z.int(), logic: z.string() }),
  }
}

function answer({ maximum, logic }: SessionSettings): object {
  return { maximum, logic }
}

/** Reads the settings. */
export const readSettingsRoute = restRoute({
  methods: ['GET'],
  path: PATH,
  summary: 'Reads the settings of the session limit.',
  access: 'manage_options',
  schemas: async (services) => ({ params: z.object({}), response: (await schemas(services)).response }),
  handle: async ({ services }) => answer(await services.limiter.settings.get()),
})

/** Changes some settings. */
export const writeSettingsRoute = restRoute<Partial<SessionSettings>>({
  methods: ['POST', 'PUT', 'PATCH'],
  path: PATH,
  summary: 'Changes settings of the session limit. What is left out keeps its value.',
  access: 'manage_options',
  schemas,
  handle: async ({ services, params }) => answer(await services.limiter.settings.update(params)),
})
