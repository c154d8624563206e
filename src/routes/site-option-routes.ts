import * as z from 'zod/mini'
import type { OptionRegistry } from '../options/option-registry.ts'
import type { SiteOption } from '../options/site-option.ts'
import type { Caller } from './authenticate-caller.ts'
import type { OptionAccess } from './option-access.ts'
import { RestError } from './rest-error.ts'
import { type RestRoute, restRoute } from './rest-route.ts'

const PATH = '/wp/v2/settings/{option}'
const SOURCES = z.object({ value: z.unknown(), stored: z.unknown(), defaults: z.unknown() })

/** Tells what of an exposed option is stored, and gives it back to the code. */
export function siteOptionRoutes(options: OptionRegistry, optionAccess: OptionAccess): readonly RestRoute[] {
  const access = optionAccess.list

  async function find(name: string, caller: Caller | undefined): Promise<SiteOption> {
    const option = options.exposed().find((one) => one.name === name)
    if (option) {
      await optionAccess.require(caller, option)
      return option
    }
    throw new RestError(404, 'rest_no_route', 'There is no such option.')
  }

  async function answer(option: SiteOption): Promise<object> {
    const [value, { stored = null, defaults }] = await Promise.all([option.get(), option.sources()])
    return { value, stored, defaults }
  }

  return [
    restRoute<{ option: string }>({
      methods: ['GET'],
      path: PATH,
      summary: 'Tells what of an option is stored, and what holds without that.',
      access,
      schemas: () => ({ params: z.object({ option: z.string() }), response: SOURCES }),
      handle: async ({ params, caller }) => answer(await find(params.option, caller)),
    }),
    restRoute<{ option: string }>({
      methods: ['DELETE'],
      path: PATH,
      summary: 'Gives an option back to its defaults.',
      access,
      schemas: () => ({ params: z.object({ option: z.string() }), response: SOURCES }),
      async handle({ params, caller }) {
        const option = await find(params.option, caller)
        await option.reset()
        return answer(option)
      },
    }),
    restRoute<{ option: string; key: string }>({
      methods: ['DELETE'],
      path: `${PATH}/{key}`,
      summary: 'Gives one key of an option back to its default.',
      access,
      schemas: () => ({ params: z.object({ option: z.string(), key: z.string() }), response: SOURCES }),
      async handle({ params, caller }) {
        const option = await find(params.option, caller)
        await option.reset(params.key)
        return answer(option)
      },
    }),
  ]
}
