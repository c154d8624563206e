import { SiteSecrets } from '../auth/site-secrets.ts'
import type { HostStore } from '../door/host-types.ts'
import { ownRequestOf } from '../door/request/visit.ts'
import {
  type AuditOptions,
  type ResolvedAudit,
  resolveAuditOptions,
} from '../features/activity/resolve-audit-options.ts'
import { checkProvider, checkSite, type LicensingProvider, type SiteOptions } from '../features/addons/licensing.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { consoleLogger, type Logger, safeLogger } from '../ground/logger.ts'
import {
  callable,
  type Declared,
  keysOf,
  must,
  refuseRequest,
  requireBoolean,
  requireKnown,
  requireObject,
  resolveDeclared,
  whole,
} from '../ground/option-checks.ts'
import type { UserId } from '../ground/user-id.ts'
import type { Host } from '../host/host.ts'
import { strictHost } from '../host/strict-host.ts'
import type { LabelLimits, LabelledClient } from '../limiter/decision/label-group.ts'
import type { LoginOption } from '../limiter/decision/login-option.ts'
import { type CodeSettings, MEANT_SETTINGS, SETTING_NAMES } from '../options/setting-rules.ts'
import { isAddress, isListOf } from '../routes/page-addresses.ts'
import { memoryStore } from '../stores/memory-store.ts'
import { withPrivateTransients } from '../stores/private-transients.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimitStrategy } from '../strategies/limit-strategy.ts'
import { checkTexts, createTextsFor, type TextsFor, type TextsOption } from '../texts/texts-for.ts'
import {
  checkHost,
  checkLimits,
  checkLogic,
  checkSessionStore,
  checkSettings,
  checkStore,
  isCookieName,
  isSecret,
  labelLimits,
} from './check-options.ts'
import { createUserReaders, type UserReaders } from './user-readers.ts'

/** Options of sessmgr(). Omitted and undefined options use their defaults. */
export interface SessmgrOptions {
  // What every application needs.

  /**
   * Sets the limit. Stored settings override it, key by key. `maximum` and `max_age` may be functions of the user id.
   *
   * @default { maximum: 1, logic: 'allow', idle_release: 0, max_age: 0, enforce: true }
   * @see docs/options.md#settings
   */
  settings?: { [K in keyof CodeSettings]?: CodeSettings[K] | undefined } | undefined
  /**
   * Stores session records, settings, passwords and the logout epoch.
   *
   * @default memoryStore()
   * @see docs/stores.md
   */
  store?: SessmgrStore | undefined
  /**
   * The express-session store, to guard it before the first request.
   *
   * @default the store of the first request
   * @see docs/getting-started.md#name-the-session-store
   */
  sessionStore?: object | undefined
  /**
   * Reads the id of a user object: a non-empty string or a safe integer. Not a typed
   * name: `alice` and `Alice` would be two users.
   *
   * Also applied to what Passport stores in the session, if that is an object.
   *
   * @default the `id`, `userId` or `_id`
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its users.
  userId?: ((user: any) => UserId) | undefined
  /**
   * Your application's users, permissions, posts and theme, for the REST routes, the command line and lazy comments.
   *
   * @default none
   * @see docs/options.md#host
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its users.
  host?: Host<any, any> | undefined

  // Which sessions count, and how.

  /**
   * Reads the id of the signed-in user from session data.
   *
   * Return only the id, not the user, or undefined if no user is signed in. Set this if you do not use Passport and
   * your sessions contain the user, or if Passport serializes something other than an id.
   *
   * @default the id that Passport serialized
   */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows what its sessions contain.
  sessionUser?: ((data: Record<string, any>) => UserId | undefined) | undefined
  /**
   * Says once, at each login, what its session is: its `label`, and whether it `counts`.
   *
   * A session that does not count, as of support or a service account, is never refused and ends nothing.
   *
   * @default every session counts, and has no label
   * @see docs/limits.md#login
   */
  login?: LoginOption | undefined
  /**
   * Sessions per label, such as `{ desktop: 1, mobile: 1 }`, or a function of the label. `maximum` still limits the
   * total.
   *
   * A login counts against the limit of its own label first.
   *
   * @default none
   */
  limits?: Readonly<Record<string, number>> | ((label: string) => number | undefined) | undefined
  /**
   * Returns the label of a session from its `userAgent`, `ip` and `device`, or undefined if only `maximum` applies. Not
   * called for sessions that the `login` option has given a label.
   *
   * Must return the same label for the same values: it is asked again at each later login.
   *
   * @default `desktop`, `mobile` or none, by the user agent
   */
  labelOf?: ((client: LabelledClient) => string | undefined | Promise<string | undefined>) | undefined
  /**
   * Your own modes for the `logic` setting.
   *
   * @default none
   * @see docs/options.md#strategies
   */
  strategies?: readonly LimitStrategy[] | undefined
  /**
   * Whether to recognize the browser of a login by a cookie that lasts 400 days.
   *
   * Users who sign in again in the same browser then replace their session there, even if the session cookie is gone.
   *
   * @default false
   * @see docs/limits.md#the-device-cookie
   */
  device?: boolean | undefined
  /**
   * The cookie of the `device` option. Its name may have letters, digits, `_`, `-` and `.`.
   *
   * @default { name: 'sessmgr_device' }
   */
  deviceCookie?: DeviceCookieOption | undefined

  // What users and administrators see.

  /**
   * Page where users change their password, for the notice after a sign-out: a path, or an http or https URL.
   *
   * @default none
   */
  securityUrl?: string | undefined
  /**
   * Texts that replace the English ones: an object, or a function of the request.
   *
   * @default English
   * @see docs/notice.md#languages
   */
  texts?: TextsOption | undefined
  /**
   * Whether the admin screen lists the people who are signed in.
   *
   * The store then keeps an index of up to 100,000 people, which no login reads or waits for.
   *
   * @default false
   * @see docs/admin-screen.md
   */
  directory?: boolean | undefined
  /**
   * Keeps a log of logins, ended sessions and changed settings.
   *
   * Without this option, each process with the REST routes keeps the last events in memory. With `false`, nothing is
   * recorded.
   *
   * @default the last 1,000 events
   * @see docs/activity.md
   */
  audit?: AuditOptions | false | undefined

  // The REST routes and add-ons.

  /**
   * Path where your application mounts `limiter.router()`, or an empty string for the root.
   *
   * @default '/api'
   */
  restPath?: string | undefined
  /**
   * Name of the header with the nonce: letters, digits, `-` and `_`.
   *
   * @default 'X-HOST-Nonce'
   */
  nonceHeader?: string | undefined
  /**
   * Provider of add-ons and licenses, from `sessmgr/licensing`. Needs `site`.
   *
   * @default no add-ons
   * @see docs/blog/add-ons.md
   */
  licensing?: LicensingProvider | undefined
  /**
   * Public URL and title of the site, `{ url, title }`. Licenses are bound to it.
   *
   * @default none
   */
  site?: SiteOptions | undefined

  // Operation.

  /**
   * Signs nonces, and encrypts license keys: 32 characters or more, or an array of such strings, newest first.
   *
   * Older secrets stay valid until you remove them. License keys are not encrypted without this option.
   *
   * @default generated and stored
   */
  secret?: string | readonly string[] | undefined
  /**
   * Receives warnings and errors: an object with `warn` and `error`.
   *
   * @default the console
   */
  logger?: Logger | undefined
  /**
   * Milliseconds between two updates of a session's expiry and last use, from 0 to 3,600,000; at most a tenth of its
   * lifetime.
   *
   * @default 60000
   */
  touchEvery?: number | undefined
  /**
   * How many sessions and users each process remembers, from 100 to 1,000,000: choose as many as it serves at once.
   *
   * A request with any other session needs two store calls in sequence. 100,000 sessions take 75 MB.
   *
   * @default 20000
   */
  sessionCacheSize?: number | undefined
  /**
   * How many seconds to keep the reasons why sessions ended, from 0 to 2,592,000. A reason is deleted earlier if its
   * session would have expired.
   *
   * With 0, users see no reason.
   *
   * @default 259200
   */
  endedMemory?: number | undefined
  /**
   * Milliseconds that an asynchronous hook subscriber, a function of `host` or the rendering of comments may take, from
   * 1 to 60,000.
   *
   * While sessmgr's store is down, requests wait no longer than this for their session either.
   *
   * @default 2000
   */
  deadlineMs?: number | undefined
}

/** The cookie of the `device` option. */
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
  readonly login: LoginOption | undefined
  readonly deadlineMs: number
  readonly touchEveryMs: number
  readonly sessionCacheSize: number
  readonly endedMemoryMs: number
  readonly device: boolean
  readonly deviceName: string
  readonly directory: boolean
  readonly securityUrl: string | undefined
  readonly audit: ResolvedAudit | false | undefined
  readonly host: Host | undefined
  readonly secrets: readonly string[]
  readonly nonceHeader: string
  readonly restPath: string
  readonly licensing: LicensingProvider | undefined
  readonly site: SiteOptions | undefined
  readonly textsFor: TextsFor
  readonly logger: Logger
}

const OPTIONS = {
  settings: [checkSettings, {}],
  store: [checkStore],
  sessionStore: [checkSessionStore],
  userId: [callable('(user) => user.id')],
  host: [checkHost],
  sessionUser: [callable('(session) => session.userId')],
  login: [callable('({ from }) => ({ counts: !from })')],
  limits: [checkLimits],
  labelOf: [callable("({ userAgent }) => 'desktop'")],
  strategies: [
    must('be an array of limit strategies, each with id, label, desc and decide()', (list) =>
      isListOf(list, isStrategy),
    ),
    [],
  ],
  device: [requireBoolean],
  deviceCookie: [
    keysOf({
      name: must(
        'be a cookie name of letters, digits, "_", "-" and ".", and without "__Host-", which is added over HTTPS',
        isCookieName,
      ),
    }),
    {},
  ],
  securityUrl: [must('be a path such as "/account", or an http or https URL', isAddress)],
  texts: [checkTexts],
  directory: [requireBoolean, false],
  audit: [(_name, audit) => void resolveAuditOptions(audit)],
  restPath: [
    must(
      'be a path such as "/api", or "" for the root',
      (path) => typeof path === 'string' && /^(\/[^?#]*[^/?#])?$/.test(path),
    ),
    '/api',
  ],
  nonceHeader: [must('be a header name', (name) => typeof name === 'string' && /^[\w-]+$/.test(name)), 'X-HOST-Nonce'],
  licensing: [checkProvider],
  site: [checkSite],
  secret: [must('be a string of at least 32 characters, or an array of such strings, newest first', isSecret), []],
  logger: [
    must('have the methods warn and error', (logger) =>
      ['warn', 'error'].every((name) => typeof Object(logger)[name] === 'function'),
    ),
    consoleLogger,
  ],
  touchEvery: [whole(0, 3_600_000), 60_000],
  sessionCacheSize: [whole(100, 1_000_000), 20_000],
  endedMemory: [whole(0, 2_592_000), 259_200],
  deadlineMs: [whole(1, 60_000), 2000],
} as const satisfies Declared<SessmgrOptions>

/** Maps names from other packages to ours. `_events` is the first field of a session store, passed by mistake. */
const MEANT_OUTSIDE = Object.fromEntries([
  ...[...Object.entries(MEANT_SETTINGS), ...SETTING_NAMES.map((name) => [name, name] as const)].map(
    ([word, name]) => [word, `settings.${name}`] as const,
  ),
  ['_events', 'sessionStore'],
  ['redis', 'store'],
])

/**
 * Checks the options at startup.
 *
 * @throws SessmgrError `invalid_option` with the option and, if it looks mistyped, the nearest known name.
 */
export function resolveOptions(options: SessmgrOptions = {}): ResolvedOptions {
  refuseRequest(options, 'sessmgr()')
  requireObject('The options of sessmgr()', options, '{ settings: { maximum: 2 } }')
  requireKnown(options, Object.keys(OPTIONS), undefined, MEANT_OUTSIDE)
  const resolved = resolveDeclared(OPTIONS, options)
  const { settings, store, sessionStore, host, strategies, device, deviceCookie } = resolved
  const { deadlineMs, touchEvery, endedMemory, licensing, site, texts, secret } = resolved
  checkLogic(settings.logic, strategies)
  if (licensing && !site) {
    throw invalidOption(
      '"licensing" needs "site", because licenses are bound to it: site: { url: \'https://example.com\' }',
    )
  }
  if (device === undefined && deviceCookie.name !== undefined) {
    throw invalidOption('"deviceCookie" has no effect without device: true')
  }
  const logger = safeLogger(resolved.logger)
  const textsFor = createTextsFor(texts, logger)
  const { sessionCacheSize, directory, securityUrl, nonceHeader, restPath } = resolved
  return {
    store: store ?? memoryStore(),
    settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
    sessionStore: sessionStore as HostStore | undefined,
    ...createUserReaders(options.userId, options.sessionUser, logger),
    strategies,
    labels: labelLimits(resolved, deadlineMs),
    login: options.login,
    deadlineMs,
    touchEveryMs: touchEvery,
    sessionCacheSize,
    endedMemoryMs: endedMemory * 1000,
    device: device === true,
    deviceName: deviceCookie.name ?? 'sessmgr_device',
    directory,
    securityUrl,
    audit: resolveAuditOptions(options.audit),
    host: host && strictHost(host, logger),
    secrets: typeof secret === 'string' ? [secret] : secret,
    nonceHeader,
    restPath,
    licensing,
    site,
    textsFor: (request) => textsFor(ownRequestOf(request)),
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
