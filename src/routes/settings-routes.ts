import * as z from 'zod/mini'
import type { SessionSettings, SettingsService } from '../options/session-settings.ts'
import type { LogicModes } from '../strategies/logic-catalogue.ts'
import { type RestRoute, restRoute } from './rest-route.ts'

const WHOLE_NUMBER = 'must be a whole number, 1 or more'
const wholeNumber = z.int(WHOLE_NUMBER).check(z.minimum(1, WHOLE_NUMBER))
const digits = z.string().check(z.regex(/^0*[1-9]\d*$/, WHOLE_NUMBER))

function answer({ maximum, logic }: SessionSettings): object {
  return { maximum, logic }
}

/** Reads and changes the settings of the session limit. */
export function settingsRoutes(settings: SettingsService, modes: LogicModes): readonly RestRoute[] {
  const path = '/sessmgr/v1/settings'
  const access = 'manage_options'
  const response = z.object({ maximum: z.int(), logic: z.string() })
  return [
    restRoute({
      methods: ['GET'],
      path,
      summary: 'Reads the settings of the session limit.',
      access,
      schemas: () => ({ params: z.object({}), response }),
      handle: async () => answer(await settings.get()),
    }),
    restRoute<Partial<SessionSettings>>({
      methods: ['POST', 'PUT', 'PATCH'],
      path,
      summary: 'Changes settings of the session limit. What is left out keeps its value.',
      access,
      async schemas() {
        const logics = Object.keys(await modes.catalogue()) as [string, ...string[]]
        const params = z.object({
          maximum: z.optional(z.union([wholeNumber, digits], WHOLE_NUMBER)),
          logic: z.optional(z.enum(logics, `must be one of ${logics.join(', ')}`)),
        })
        return { params, response }
      },
      handle: async ({ params }) => answer(await settings.update(params)),
    }),
  ]
}
