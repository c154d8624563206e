import { SiteSecrets } from '../auth/site-secrets.ts'
import {
  type AuditOptions,
  type ResolvedAudit,
  resolveAuditOptions,
} from '../features/activity/resolve-audit-options.ts'
import type { SiteOptions } from '../features/addons/addons.ts'
import { checkLicensing } from '../features/addons/licensing/check-licensing.ts'
import type { LicensingProvider } from '../features/addons/licensing/licensing-provider.ts'
import { consoleLogger, type Logger, safeLogger, warn } from '../ground/logger.ts'
import {
  anything,
  callable,
  type Declared,
  must,
  requireBoolean,
  requireKnown,
  requireObject,
  resolveDeclared,
  whole,
} from '../ground/option-checks.ts'
import { refuseRequest } from '../ground/request-checks.ts'
import type { UserId } from '../ground/user-id.ts'
import type { HostStore } from '../guard/host-types.ts'
import type { Host } from '../host/host.ts'
import { strictHost } from '../host/strict-host.ts'
import type { LabelLimits, LabelledClient } from '../limiter/decision/label-group.ts'
import { type CodeSettings, MEANT_SETTINGS, SETTING_NAMES } from '../options/setting-rules.ts'
import { isAddress, isListOf } from '../routes/page-addresses.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { withPrivateTransients } from '../stores/private-transients.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimitStrategy } from '../strategies/limit-strategy.ts'
import { createTextsFor, type TextsFor, type TextsOption } from '../texts/texts-for.ts'
import { checkDevice, checkHost, checkLabels, checkSecrets, checkSettings, checkStore } from './check-options.ts'

import { createUserReaders, type UserReaders } from './user-readers.ts'

/** Options of sessmgr(). Omitted and undefined options have their defaults. */
export interface SessmgrOptions {
  /** Stores sessions, settings and the logout epoch. @default memoryStore(), for one process only */
  store?: SessmgrStore | undefined
  /**
   * Settings that apply unless others are stored. `maximum` may be a function of the user id. @default { maximum: 1,
   * logic: 'allow', idle_release: 0, enforce: true }
   */
  settings?: { [K in keyof CodeSettings]?: CodeSettings[K] | undefined } | undefined
  /**
   * The express-session store, if it must be guarded before the first request. @default the store of the first
   * request
   */
  sessionStore?: object | undefined
  /**
   * Reads the id of a user object. Also applied to what Passport stores in the session, if that is an object. @default the
   * first of `id`, `userId` and `_id`
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its users.
  userId?: ((user: any) => UserId) | undefined
  /**
   * Reads the id of the signed-in user from session data. Return only the id, not the user, or undefined if no user is
   * signed in.
   *
   * Set this if you do not use Passport and your sessions contain the user, or if Passport serializes something other
   * than an id.
   *
   * @default the id that Passport serialized, or the `id` of the object that it serialized
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows what its sessions contain.
  sessionUser?: ((data: Record<string, any>) => UserId | undefined) | undefined
  /**
   * How many sessions each user may have per label, in addition to the `maximum` for all sessions. A login counts
   * against the limit of its own label first. @default no limit per label
   */
  limits?: Readonly<Record<string, number>> | undefined
  /**
   * Returns the label of a session, or undefined if it only counts against the `maximum`. Must return the same label
   * for the same values.
   *
   * @default `desktop` for computers, `mobile` for phones and tablets, by the user agent
   */
  labelOf?: ((client: LabelledClient) => string | undefined | Promise<string | undefined>) | undefined
  /** Additional modes for the setting `logic`. */
  strategies?: readonly LimitStrategy[] | undefined
  /**
   * How many milliseconds an asynchronous hook subscriber, a function of `host` or the rendering of comments may take,
   * from 1 to 60,000. While sessmgr's store is away, requests wait no longer than this for their session either.
   * @default 2000
   */
  deadlineMs?: number | undefined
  /**
   * How many milliseconds a call to your session store may take, from 1 to 600,000. A slow call delays only its own
   * request. @default 10000
   */
  sessionStoreDeadlineMs?: number | undefined
  /**
   * Minimum time between updates of a session's expiry and last use, in milliseconds from 0 to 3,600,000. Never more
   * than a tenth of the session's lifetime. @default 60000
   */
  touchEvery?: number | undefined
  /**
   * How many seconds to remember why a session ended, from 0 to 2,592,000. With 0, users are not shown a reason.
   * @default 259200
   */
  endedMemory?: number | undefined
  /**
   * Whether to recognize the browsers of logins by a cookie that lasts 400 days. Users who sign in again in the same
   * browser then replace their session there, even if its cookie is gone. @default false
   */
  device?: boolean | undefined
  /** The cookie of the option `device`. @default { name: 'sessmgr_device' } */
  deviceCookie?: DeviceCookieOption | undefined
  /**
   * Whether to list the people who are signed in, on the admin screen. The store then keeps an index of up to 100,000
   * people, which no login reads or waits for. @default false
   */
  directory?: boolean | undefined
  /**
   * Page where users change their password, for the notice that signed-out users see: a path, or an http or https URL.
   * @default no link
   */
  securityUrl?: string | undefined
  /**
   * Keeps a log of logins, ended sessions and changed settings. @default the last 1000 events, in the memory of a
   * process with the REST routes
   */
  audit?: AuditOptions | undefined
  /** Your application's users and permissions, for the REST routes and the command line. */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its users.
  host?: Host<any, any> | undefined
  /**
   * Secrets that sign nonces and sessions and encrypt stored license keys, newest first. Each needs at least 32
   * characters. Older ones stay valid until you remove them.
   *
   * @default for nonces and sessions: a secret created once in the store; for license keys: no encryption
   */
  secret?: string | readonly string[] | undefined
  /** Path where your application mounts the router, for links in pages. @default '/api' */
  restPath?: string | undefined
  /** Name of the header with the nonce. @default 'X-HOST-Nonce' */
  nonceHeader?: string | undefined
  /** Provider of add-ons and licenses, from `sessmgr/licensing`. Needs `site`. @default no add-ons */
  licensing?: LicensingProvider | undefined
  /** Public URL and title of the site. Licenses are bound to it. */
  site?: SiteOptions | undefined
  /** Texts that replace the English ones: an object, or a function of the request. @default English */
  texts?: TextsOption | undefined
  /** Receives warnings and errors. @default the console */
  logger?: Logger | undefined
}

/** The cookie of the option `device`. */
export interface DeviceCookieOption {
  /** Name of the cookie. Over HTTPS, the prefix `__Host-` is added. @default 'sessmgr_device' */
  readonly name?: string | undefined
}

export interface ResolvedOptions extends UserReaders {
  readonly store: SessmgrStore
  readonly settings: CodeSettings
  readonly sessionStore: HostStore | undefined
  readonly strategies: readonly LimitStrategy[]
  readonly labels: LabelLimits | undefined
  readonly deadlineMs: number
  readonly sessionStoreDeadlineMs: number
  readonly touchEveryMs: number
  readonly endedMemoryMs: number
  readonly device: boolean
  readonly deviceName: string
  readonly directory: boolean
  readonly securityUrl: string | undefined
  readonly audit: ResolvedAudit | undefined
  readonly host: Host | undefined
  readonly secrets: readonly string[]
  readonly nonceHeader: string
  readonly restPath: string
  readonly licensing: LicensingProvider | undefined
  readonly site: SiteOptions | undefined
  readonly textsFor: TextsFor
  readonly logger: Logger
}

const ONE_IN_ALL =
  'The option "limits" is set without settings.maximum, so each user may have one session in all, unless a maximum is ' +
  'stored. Set settings.maximum, such as 2.'

const OPTIONS = {
  store: [(_name, store) => checkStore(store)],
  settings: [anything],
  sessionStore: [must('be the express-session store', (store) => typeof Object(store).get === 'function')],
  userId: [callable('(user) => user.id')],
  sessionUser: [callable('(session) => session.userId')],
  limits: [anything],
  labelOf: [anything],
  strategies: [
    must('be an array of limit strategies, each with id, label, desc and decide()', (list) =>
      isListOf(list, isStrategy),
    ),
    [],
  ],
  deadlineMs: [whole(1, 60_000), 2000],
  sessionStoreDeadlineMs: [whole(1, 600_000), 10_000],
  touchEvery: [whole(0, 3_600_000), 60_000],
  endedMemory: [whole(0, 2_592_000), 259_200],
  device: [anything],
  deviceCookie: [anything],
  directory: [requireBoolean, false],
  securityUrl: [must('be a path such as "/account", or an http or https URL', isAddress)],
  audit: [anything],
  host: [anything],
  secret: [anything],
  nonceHeader: [
    must('be the name of a header', (name) => typeof name === 'string' && /^[\w-]+$/.test(name)),
    'X-HOST-Nonce',
  ],
  restPath: [
    must(
      'be a path such as "/api", or "" for the root',
      (path) => typeof path === 'string' && /^(\/[^?#]*[^/?#])?$/.test(path),
    ),
    '/api',
  ],
  licensing: [anything],
  site: [anything],
  texts: [anything],
  logger: [
    must('have the methods warn and error', (logger) =>
      ['warn', 'error'].every((name) => typeof Object(logger)[name] === 'function'),
    ),
    consoleLogger,
  ],
} as const satisfies Declared<SessmgrOptions>

/** Maps names that other packages use to settings. */
const MEANT_OUTSIDE = Object.fromEntries(
  [...Object.entries(MEANT_SETTINGS), ...SETTING_NAMES.map((name) => [name, name] as const)].map(([word, name]) => [
    word,
    `settings.${name}`,
  ]),
)

/**
 * Checks the options at startup.
 *
 * @throws SessmgrError `invalid_option` with the option and, if it looks mistyped, the nearest known name.
 */
export function resolveOptions(options: SessmgrOptions = {}): ResolvedOptions {
  refuseRequest(options, 'sessmgr()')
  requireObject('The options of sessmgr()', options)
  requireKnown(options, Object.keys(OPTIONS), undefined, MEANT_OUTSIDE)
  const resolved = resolveDeclared(OPTIONS, options)
  const { store, sessionStore, strategies, deadlineMs, touchEvery, endedMemory, licensing, site, texts } = resolved
  checkLicensing(licensing, site)
  const logger = safeLogger(resolved.logger)
  if (options.limits && options.settings?.maximum === undefined) warn(logger, 'limits-without-a-maximum', ONE_IN_ALL)
  const host = checkHost(options.host, logger)
  const { sessionStoreDeadlineMs, directory, securityUrl, nonceHeader, restPath } = resolved
  return {
    store: store ?? memoryStore(),
    settings: checkSettings(options.settings, strategies),
    sessionStore: sessionStore as HostStore | undefined,
    ...createUserReaders(options.userId, options.sessionUser, logger),
    strategies,
    labels: checkLabels(options, deadlineMs),
    deadlineMs,
    sessionStoreDeadlineMs,
    touchEveryMs: touchEvery,
    endedMemoryMs: endedMemory * 1000,
    ...checkDevice(options),
    directory,
    securityUrl,
    audit: resolveAuditOptions(options.audit),
    host: host && strictHost(host, logger),
    secrets: checkSecrets(options.secret),
    nonceHeader,
    restPath,
    licensing,
    site,
    textsFor: createTextsFor(texts, logger),
    logger,
  }
}

/** Adds the secrets of the site to the options, and lets the store hide whom its strings are about. */
export function withSecrets(options: ResolvedOptions): ResolvedOptions & { readonly siteSecrets: SiteSecrets } {
  const siteSecrets = new SiteSecrets(options.store.options, options.secrets)
  return { ...options, store: withPrivateTransients(options.store, siteSecrets), siteSecrets }
}

function isStrategy(value: unknown): boolean {
  const { decide, id, label, desc } = Object(value) as Partial<LimitStrategy>
  return typeof decide === 'function' && [id, label, desc].every((text) => typeof text === 'string' && text !== '')
}
