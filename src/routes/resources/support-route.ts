import * as z from 'zod/mini'
import { VERSION } from '../../ground/constants.ts'
import type { SettingsService } from '../../options/session-settings.ts'
import { eachSetting } from '../../options/setting-rules.ts'
import { totalOf } from '../../sessions/people-index.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import { type RestRoute, restRoute } from '../router.ts'
import { SETTINGS_ANSWER } from './settings-routes.ts'

/** An installed add-on, in the support report. */
interface ReportedAddon {
  readonly id: number
  readonly licensed: boolean
}

const AUDITS = ['off', 'process', 'sink'] as const

/** Dependencies of the support report. */
interface SupportParts {
  readonly store: SessmgrStore
  readonly settings: SettingsService
  /** Lists the installed add-ons. */
  addons(): Promise<readonly ReportedAddon[]>
  /** Whether the `directory` option is on. */
  readonly directory: boolean
  /** Where events are recorded: nowhere, in this process only, or in the `audit` option's sink. */
  readonly audit: (typeof AUDITS)[number]
}

/** Returns the route that reports versions, settings and counts for support, but no names, addresses, session ids or keys. */
export function supportRoute({ store, settings, addons, directory, audit }: SupportParts): RestRoute {
  const count = z.nullable(z.int())
  return restRoute({
    methods: ['GET'],
    path: '/sessmgr/v1/support',
    summary: 'Reports versions, settings and counts for support. Unknown values are null.',
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({}),
      response: z.object({
        version: z.string(),
        node: z.string(),
        platform: z.string(),
        store: z.string(),
        shared: z.boolean(),
        directory: z.boolean(),
        audit: z.enum(AUDITS),
        settings: z.nullable(SETTINGS_ANSWER),
        addons: z.nullable(z.array(z.object({ id: z.int(), licensed: z.boolean() }))),
        people: count,
        sessions: count,
      }),
    }),
    async handle() {
      // Values that fail become null, because a report is needed most when something fails.
      const [current, installed, counted] = await Promise.all([
        orNull(() => settings.get()),
        orNull(addons),
        orNull(async () => (directory ? totalOf(await store.people.count()) : undefined)),
      ])
      return {
        version: VERSION,
        node: process.versions.node,
        platform: `${process.platform} ${process.arch}`,
        store: store.name,
        shared: store.local !== true,
        directory,
        audit,
        settings: current && eachSetting((name) => current[name]),
        addons: installed,
        people: counted?.people ?? null,
        sessions: counted?.sessions ?? null,
      }
    },
  })
}

/** Reads a value. Resolves to null if it cannot be read, or is unknown. */
async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return (await read()) ?? null
  } catch {
    return null
  }
}
