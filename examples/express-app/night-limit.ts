import type { Sessmgr } from 'sessmgr'
import type { OfflineAddon } from 'sessmgr/licensing'
import * as z from 'zod'

/** The add-on as listed in the catalogue. */
export const nightLimitProduct = {
  id: 7002,
  slug: 'night-limit',
  title: 'Night Limit',
  is_premium: false,
  description: 'Sets another limit from midnight to six. Set it on the command line: sessmgr night-limit set 1',
} as const satisfies OfflineAddon

const NAME = nightLimitProduct.slug

/** Adds a free add-on that sets another limit at night. It has no effect until that limit is set. */
export function nightLimit(
  { hooks, options }: Sessmgr,
  publicKey: string,
  hourNow = () => new Date().getHours(),
): void {
  const option = options.register<{ maximum: number | null }>('night_limit', {
    schema: z.object({ maximum: z.int().min(1).nullable() }),
    default: { maximum: null },
    rest: true,
  })

  hooks.addFilter('sessmgr_register_addon', NAME, (registered) => ({
    ...registered,
    [nightLimitProduct.id]: { slug: NAME, is_premium: false, main_file: import.meta.filename, public_key: publicKey },
  }))

  // Priority 12 overrides the limits of roles (10) and of users (11).
  const limit = async (maximum: number) => (hourNow() < 6 ? ((await option.get()).maximum ?? maximum) : maximum)
  hooks.addFilter('sessmgr_maximum', NAME, limit, 12)

  hooks.addAction('sessmgr_cli_init', NAME, (cli) => {
    cli.register(NAME, {
      description: 'change the limit at night',
      commands: {
        set: {
          description: 'set the limit from midnight to six; "none" removes it',
          arguments: ['<maximum>'],
          changes: true,
          async run({ print }, maximum) {
            await option.update({ maximum: maximum === 'none' ? null : Number(maximum) })
            print(maximum === 'none' ? 'There is no limit at night.' : `The limit at night is ${maximum}.`)
          },
        },
      },
    })
  })
}
