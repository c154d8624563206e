import * as z from 'zod/mini'
import type { OptionRegistry } from '../../options/option-registry.ts'
import { optionTag } from '../../options/option-tag.ts'
import type { SiteOption } from '../../options/site-option.ts'
import { byAdmin, type Caller } from '../caller.ts'
import { RestAnswer } from '../rest-answer.ts'
import { RestError } from '../rest-error.ts'
import { type RestRoute, restRoute } from '../rest-route.ts'
import type { OptionAccess } from './option-access.ts'
import { refuseIfChanged } from './refuse-if-changed.ts'

const SOURCES = z.object({ value: z.unknown(), stored: z.unknown(), defaults: z.unknown() })
const ANY_OPTIONS = z.record(z.string(), z.unknown())

/** Reads, changes and resets the options that are exposed over REST, and shows where each value comes from. */
export function siteOptionsRoutes(options: OptionRegistry, optionAccess: OptionAccess): readonly RestRoute[] {
  const path = '/wp/v2/settings'
  const access = optionAccess.list

  async function current(caller: Caller | undefined): Promise<RestAnswer> {
    const entries = (await optionAccess.list(caller)).map(async (option) => [option.name, await option.get()] as const)
    const values: Record<string, unknown> = Object.fromEntries(await Promise.all(entries))
    return RestAnswer.json(values, { headers: { ETag: optionTag(values) } })
  }

  async function find(name: string, caller: Caller | undefined): Promise<SiteOption> {
    const option = options.exposed().find((one) => one.name === name)
    if (option) {
      await optionAccess.require(caller, option)
      return option
    }
    throw new RestError(404, 'rest_no_route', 'This option does not exist.')
  }

  async function answer(option: SiteOption): Promise<object> {
    const [value, { stored = null, defaults }] = await Promise.all([option.get(), option.sources()])
    return { value, stored, defaults }
  }

  return [
    restRoute({
      methods: ['GET'],
      path,
      summary: 'Reads all registered options that are exposed over REST.',
      access,
      isTagged: true,
      schemas: () => ({ params: z.object({}), response: ANY_OPTIONS }),
      handle: ({ caller }) => current(caller),
    }),
    restRoute<Record<string, unknown>>({
      methods: ['POST', 'PUT', 'PATCH'],
      path,
      summary:
        'Changes registered options. Partial objects are merged into the current values, and values are sanitized.',
      access,
      schemas: () => ({ params: ANY_OPTIONS, response: ANY_OPTIONS }),
      needsBody: true,
      async handle({ params, request, caller }) {
        // Names that are not exposed options are dropped.
        const changed = options.exposed().filter(({ name }) => Object.hasOwn(params, name))
        for (const option of changed) await optionAccess.require(caller, option)
        const writeTo = (name: string, current: unknown) => ({ name, current, requested: params[name], prefix: name })
        // Check all values before writing the first one, so that an invalid value changes nothing.
        if (changed.length > 1) {
          const writes = changed.map(async ({ name, get }) => writeTo(name, await get()))
          refuseIfChanged(request, await Promise.all(writes))
          for (const option of changed) await option.check(params[option.name])
        }
        for (const { name, update } of changed) {
          await update(params[name], (current) => refuseIfChanged(request, [writeTo(name, current)]), byAdmin(caller))
        }
        return current(caller)
      },
    }),
    restRoute<{ option: string }>({
      methods: ['GET'],
      path: `${path}/{option}`,
      summary: 'Returns the value of an option, the stored part of it, and its defaults.',
      access,
      schemas: () => ({ params: z.object({ option: z.string() }), response: SOURCES }),
      handle: async ({ params, caller }) => answer(await find(params.option, caller)),
    }),
    restRoute<{ option: string }>({
      methods: ['DELETE'],
      path: `${path}/{option}`,
      summary: 'Resets an option to its defaults.',
      access,
      schemas: () => ({ params: z.object({ option: z.string() }), response: SOURCES }),
      async handle({ params, caller }) {
        const option = await find(params.option, caller)
        await option.reset(undefined, byAdmin(caller))
        return answer(option)
      },
    }),
    restRoute<{ option: string; key: string }>({
      methods: ['DELETE'],
      path: `${path}/{option}/{key}`,
      summary: 'Resets one key of an option to its default.',
      access,
      schemas: () => ({ params: z.object({ option: z.string(), key: z.string() }), response: SOURCES }),
      async handle({ params, caller }) {
        const option = await find(params.option, caller)
        await option.reset(params.key, byAdmin(caller))
        return answer(option)
      },
    }),
  ]
}
