import * as z from 'zod/mini'
import { optionTag } from '../options/option-tag.ts'
import type { SessionSettings, SettingsService } from '../options/session-settings.ts'
import { RestAnswer } from './rest-answer.ts'
import { type RestRoute, restRoute } from './rest-route.ts'

type Key = keyof SessionSettings

/** Tells where a setting of the session limit comes from, and gives settings back to the code. */
export function settingRoutes({ option, reset }: SettingsService): readonly RestRoute[] {
  const path = '/sessmgr/v1/settings'
  const access = 'manage_options'
  const params = z.object({ key: z.enum(['maximum', 'logic'], 'must be maximum or logic') })
  const value = z.union([z.int(), z.string()])
  const all = z.object({ maximum: z.int(), logic: z.string() })

  function answer(settings: SessionSettings): RestAnswer {
    const { maximum, logic } = settings
    return RestAnswer.json({ maximum, logic }, { headers: { ETag: optionTag({ [option.name]: settings }) } })
  }

  return [
    restRoute<{ key: Key }>({
      methods: ['GET'],
      path: `${path}/{key}`,
      summary: 'Tells whether a setting of the session limit is stored, and what holds without that.',
      access,
      schemas: () => ({ params, response: z.object({ value, stored: z.boolean(), default: value }) }),
      async handle({ params: { key } }) {
        const { stored, defaults } = await option.sources()
        return { value: stored?.[key] ?? defaults[key], stored: stored?.[key] !== undefined, default: defaults[key] }
      },
    }),
    restRoute<{ key: Key }>({
      methods: ['DELETE'],
      path: `${path}/{key}`,
      summary: 'Gives a setting of the session limit back to the code. Responds with all settings.',
      access,
      schemas: () => ({ params, response: all }),
      handle: async ({ params: { key } }) => answer(await reset(key)),
    }),
    restRoute({
      methods: ['DELETE'],
      path,
      summary: 'Gives every setting of the session limit back to the code.',
      access,
      schemas: () => ({ params: z.object({}), response: all }),
      handle: async () => answer(await reset()),
    }),
  ]
}
