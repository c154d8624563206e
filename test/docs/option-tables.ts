import { readConfig } from '../../examples/express-app/config.ts'
import { resolveFreemiusOptions } from '../../src/extensions/freemius/freemius-licensing.ts'
import { resolveLiveOptions } from '../../src/extensions/live/live-connections.ts'
import { resolveOfflineOptions } from '../../src/extensions/offline-licenses/offline-licensing.ts'
import { resolveAdminOptions } from '../../src/features/admin/resolve-admin-options.ts'
import { COMMENT_DEFAULTS } from '../../src/features/comments/comment-settings.ts'
import { resolveChoiceOptions } from '../../src/features/pages/page-options.ts'
import { sessmgr } from '../../src/index.ts'
import { type RedisStoreOptions, redisStore } from '../../src/redis.ts'
import { resolveOptions, type SessmgrOptions } from '../../src/service/resolve-options.ts'

/** A table of options, with the code that it speaks of. */
export interface OptionTable {
  readonly path: string
  /** Title of the section that it stands in; or, with a `|` before it, the heading of its first column. */
  readonly title: string
  /** Where the docstrings are. */
  readonly declared: readonly (readonly [path: string, type: string])[]
  /** What holds when nothing is given. */
  readonly real: () => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>
  /** Gives an option a value; throws where that is refused. */
  readonly give?: (name: string, value: number) => unknown
}

const OPTIONS = ['src/service/resolve-options.ts', 'SessmgrOptions'] as const
/** A client that never answers, and could not wait for a replica. */
const call = (...given: unknown[]) => {
  asked ??= given
  return new Promise(() => {})
}
let asked: unknown[] | undefined
const client = { eval: call, evalSha: call, get: call, hGet: call }
const freemius = { productId: 1, apiToken: 'token' }

const givesOption = (name: string, value: number) => resolveOptions({ [name]: value } as SessmgrOptions)

async function settingsOfNobody() {
  const limiter = sessmgr()
  try {
    return await limiter.settings.get()
  } finally {
    await limiter.close()
  }
}

async function realOptions() {
  const { deadlineMs, touchEveryMs, sessionCacheSize, endedMemoryMs, nonceHeader, restPath } = resolveOptions()
  return {
    deadlineMs,
    touchEvery: touchEveryMs,
    sessionCacheSize,
    endedMemory: endedMemoryMs / 1000,
    nonceHeader,
    restPath,
  }
}

// It takes the time of a deadline to find out how long one is.
let found: Promise<object> | undefined

async function realRedisOptions() {
  const store = redisStore({ client })
  found ??= store.epoch.current().then(
    () => ({}),
    (error: Error) => ({ deadlineMs: Number(/within (\d+) ms/.exec(error.message)?.[1]) }),
  )
  // With the other durability there is no store over a client without wait().
  const prefix = /\w+:/.exec(JSON.stringify(asked))?.[0]
  return { ...(await found), prefix, durability: 'master' }
}

/** Every table of the documentation whose second column is a default. */
export const OPTION_TABLES: readonly OptionTable[] = [
  { path: 'docs/options.md', title: 'sessmgr()', declared: [OPTIONS], real: realOptions, give: givesOption },
  {
    path: 'docs/options.md',
    title: 'settings',
    declared: [['src/options/setting-rules.ts', 'SessionSettings']],
    real: async () => ({ ...(await settingsOfNobody()) }),
    give: (name, value) => resolveOptions({ settings: { [name]: value } }),
  },
  {
    path: 'docs/options.md',
    title: 'redisStore()',
    declared: [['src/stores/redis/redis-store.ts', 'RedisStoreOptions']],
    real: realRedisOptions,
    give: (name, value) => redisStore({ client, [name]: value } as RedisStoreOptions),
  },
  {
    path: 'docs/blog/lazy-comments.md',
    title: 'Without the session limit',
    declared: [OPTIONS, ['src/service/create-lazy-comments.ts', 'LazyCommentsOptions']],
    real: realOptions,
  },
  {
    path: 'docs/blog/add-ons.md',
    title: 'Options of an add-on',
    declared: [['src/options/option-registry.ts', 'OptionDefinition']],
    real: () => ({}),
  },
  {
    path: 'docs/blog/lazy-comments.md',
    title: 'Settings',
    declared: [['src/features/comments/lazy-comments.ts', 'CommentSettings']],
    real: () => ({ ...COMMENT_DEFAULTS }),
  },
  {
    path: 'docs/blog/add-ons.md',
    title: 'Offline licenses',
    declared: [['src/extensions/offline-licenses/offline-licensing.ts', 'OfflineLicensingOptions']],
    real: () => {
      const { audience, revocationsMaxAge } = resolveOfflineOptions({})
      return { audience, revocationsMaxAgeDays: revocationsMaxAge / 24 / 3600 }
    },
    give: (name, value) => resolveOfflineOptions({ [name]: value }),
  },
  {
    path: 'docs/blog/add-ons.md',
    title: 'Freemius',
    declared: [['src/extensions/freemius/freemius-licensing.ts', 'FreemiusLicensingOptions']],
    real: () => {
      const { validate, baseUrl, checkoutUrl, timeoutMs } = resolveFreemiusOptions(freemius)
      return { validate, baseUrl, checkoutUrl, timeoutMs }
    },
    give: (name, value) => resolveFreemiusOptions({ ...freemius, [name]: value }),
  },
  {
    path: 'docs/admin-screen.md',
    title: 'Options',
    declared: [['src/features/admin/resolve-admin-options.ts', 'AdminOptions']],
    real: () => ({ loginUrl: resolveAdminOptions().loginUrl }),
  },
  {
    path: 'docs/live.md',
    title: 'Options',
    declared: [['src/extensions/live/live-connections.ts', 'LiveOptions']],
    real: () => resolveLiveOptions(),
    give: (name, value) => resolveLiveOptions({ [name]: value }),
  },
  {
    path: 'docs/limiter.md',
    title: 'The choice page',
    declared: [
      ['src/features/pages/page-options.ts', 'ChoiceOptions'],
      ['src/features/pages/page-options.ts', 'PageOptions'],
    ],
    real: () => {
      const { url, loginUrl, successRedirect, seconds, secretInBody } = resolveChoiceOptions()
      return { url, loginUrl, successRedirect, choiceSeconds: seconds, secretInBody }
    },
    give: (name, value) => resolveChoiceOptions({ [name]: value }),
  },
  {
    path: 'examples/express-app/README.md',
    title: 'Environment',
    declared: [],
    real: async () => {
      const config = readConfig({ SESSION_SECRET: 'secret' })
      const { port, workers, seedUsers, seedSessions, scryptCost } = config
      const { maximum, logic, idle_release } = await settingsOfNobody()
      const seeds = { SEED_USERS: seedUsers, SEED_SESSIONS: seedSessions, SCRYPT_COST: scryptCost }
      const ofCode = { PORT: port, WEB_CONCURRENCY: workers, ...seeds, SESSMGR_DIRECTORY: Number(config.directory) }
      const license = { ADDON_LICENSE: Number(config.printsLicense) }
      return {
        ...ofCode,
        ...license,
        SESSMGR_MAXIMUM: maximum,
        SESSMGR_LOGIC: logic,
        SESSMGR_IDLE_RELEASE: idle_release,
      }
    },
  },
]
