import { checkLicensing } from '../features/addons/licensing/check-licensing.ts'
import type { LicensingProvider } from '../features/addons/licensing/licensing-provider.ts'
import type { SiteOptions } from '../features/addons/site-identity.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { consoleLogger, type Logger, safeLogger } from '../ground/logger.ts'
import { inWords, nearestName, requireKnown, requireObject, requireWhole } from '../ground/option-checks.ts'
import { refuseRequest } from '../ground/request-checks.ts'
import type { UserId } from '../ground/user-id.ts'
import type { HostStore } from '../guard/host-types.ts'
import type { Host } from '../host/host.ts'
import { strictHost } from '../host/strict-host.ts'
import {
  BUILT_IN_LOGICS,
  type CodeSettings,
  isMaximum,
  MEANT_SETTINGS,
  SETTING_NAMES,
} from '../options/setting-rules.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimitStrategy } from '../strategies/limit-strategy.ts'
import { createTextsFor, type TextsFor, type TextsOption } from '../texts/texts-for.ts'
import { checkHost } from './check-host.ts'
import { checkStore } from './check-store.ts'
import { createUserReaders, type UserReaders } from './user-readers.ts'

/** What an application may say when it adds the limit. Leaving a key out, or undefined, means the default. */
export interface SessmgrOptions {
  /** Remembers sessions, settings and the logout epoch. @default memoryStore(): this process alone */
  store?: SessmgrStore | undefined
  /** Settings that hold until others are stored. `maximum` may be a function of the user id. @default { maximum: 1, logic: 'allow' } */
  settings?: { [K in keyof CodeSettings]?: CodeSettings[K] | undefined } | undefined
  /** Store of express-session, where it should be guarded before the first request. @default the one of the first request */
  sessionStore?: object | undefined
  /** Reads the id of a user object. @default user.id */
  // biome-ignore lint/suspicious/noExplicitAny: the host alone knows the type of its users.
  userId?: ((user: any) => UserId) | undefined
  /**
   * Reads the id of the signed-in user out of session data: the id itself, not the user. Undefined: nobody is signed in.
   *
   * Needed without Passport, where your sessions name their user; with it, where Passport serializes no id.
   *
   * @default what Passport has serialized, where that is an id, else the `id` of it
   */
  // biome-ignore lint/suspicious/noExplicitAny: the host alone knows what its sessions hold.
  sessionUser?: ((data: Record<string, any>) => UserId | undefined) | undefined
  /** Further logic modes. */
  strategies?: readonly LimitStrategy[] | undefined
  /** Milliseconds that one call to the session store, or one asynchronous hook subscriber, may take: 1 to 60,000. @default 2000 */
  deadlineMs?: number | undefined
  /**
   * Milliseconds between two notes that a session is in use, for its expiry and "last seen": 0 to 3,600,000, and never
   * more than a tenth of the session's life. @default 60000
   */
  touchEvery?: number | undefined
  /** The application's users and what they may do: needed for the REST routes and the command line. */
  // biome-ignore lint/suspicious/noExplicitAny: the host alone knows the type of its users.
  host?: Host<any, any> | undefined
  /**
   * Secrets that sign nonces and sessions and encrypt stored licence keys, newest first: 32 characters or more each; the older ones
   * stay good until they are removed.
   *
   * @default nonces and sessions: one that is made once and kept in the store; licence keys: not encrypted
   */
  secret?: string | readonly string[] | undefined
  /** Path below which the application mounts the router, for links to it in pages. @default '/api' */
  restPath?: string | undefined
  /** Name of the header that carries the nonce. @default 'X-HOST-Nonce' */
  nonceHeader?: string | undefined
  /** Knows the add-ons and their licences: made by `sessmgr/licensing`. Needs `site`. @default no add-ons */
  licensing?: LicensingProvider | undefined
  /** Public address and title of the site, to which licences are bound. */
  site?: SiteOptions | undefined
  /** Sentences that people read, in place of the English ones: an object, or a function of the request. @default English */
  texts?: TextsOption | undefined
  /** Receives warnings and errors. @default the console */
  logger?: Logger | undefined
}

/** The options as the code reads them. */
export interface ResolvedOptions extends UserReaders {
  readonly store: SessmgrStore
  readonly settings: CodeSettings
  readonly sessionStore: HostStore | undefined
  readonly strategies: readonly LimitStrategy[]
  readonly deadlineMs: number
  readonly touchEveryMs: number
  readonly host: Host | undefined
  readonly secrets: readonly string[]
  readonly nonceHeader: string
  readonly restPath: string
  readonly licensing: LicensingProvider | undefined
  readonly site: SiteOptions | undefined
  readonly textsFor: TextsFor
  readonly logger: Logger
}

const OPTIONS = [
  'store',
  'settings',
  'sessionStore',
  'userId',
  'sessionUser',
  'strategies',
  'deadlineMs',
  'touchEvery',
  'host',
  'secret',
  'nonceHeader',
  'restPath',
  'licensing',
  'site',
  'texts',
  'logger',
] as const satisfies readonly (keyof SessmgrOptions)[]

/** The settings by the words that other packages have for them. */
const MEANT_OUTSIDE = Object.fromEntries(
  Object.entries({ ...MEANT_SETTINGS, maximum: 'maximum', logic: 'logic' }).map(([word, name]) => [
    word,
    `settings.${name}`,
  ]),
)

/**
 * Checks the options once, when the application starts.
 *
 * @throws SessmgrError `invalid_option` naming the option and, for a mistyped one, the nearest known name.
 */
export function resolveOptions(options: SessmgrOptions = {}): ResolvedOptions {
  refuseRequest(options, 'sessmgr()')
  requireObject('The options of sessmgr()', options)
  requireKnown(options, OPTIONS, undefined, MEANT_OUTSIDE)
  const {
    store,
    sessionStore,
    userId,
    sessionUser,
    strategies = [],
    deadlineMs = 2000,
    touchEvery = 60_000,
    logger = consoleLogger,
  } = options
  requireFunction(userId, 'userId', '(user) => user.id')
  requireFunction(sessionUser, 'sessionUser', '(session) => session.userId')
  checkStore(store)
  if (sessionStore !== undefined && typeof (sessionStore as HostStore | null)?.get !== 'function') {
    throw invalidOption('"sessionStore" must be the store that express-session was given')
  }
  if (!Array.isArray(strategies) || !strategies.every(isStrategy)) {
    throw invalidOption('"strategies" must be an array of limit strategies, each with id, label, desc and decide()')
  }
  requireWhole('deadlineMs', deadlineMs, 1, 60_000)
  requireWhole('touchEvery', touchEvery, 0, 3_600_000)
  if (typeof logger?.warn !== 'function' || typeof logger.error !== 'function') {
    throw invalidOption('"logger" must have the methods warn and error')
  }
  checkLicensing(options.licensing, options.site)
  const safe = safeLogger(logger)
  const host = checkHost(options.host)
  return {
    store: store ?? memoryStore(),
    settings: checkSettings(options.settings, strategies),
    sessionStore: sessionStore as HostStore | undefined,
    ...createUserReaders(userId, sessionUser, safe),
    strategies,
    deadlineMs,
    touchEveryMs: touchEvery,
    host: host && strictHost(host, safe),
    secrets: checkSecrets(options.secret),
    nonceHeader: checkHeader(options.nonceHeader),
    restPath: checkPath(options.restPath),
    licensing: options.licensing,
    site: options.site,
    textsFor: createTextsFor(options.texts, safe),
    logger: safe,
  }
}

function isStrategy(strategy: LimitStrategy | undefined): boolean {
  const texts = [strategy?.id, strategy?.label, strategy?.desc]
  return typeof strategy?.decide === 'function' && texts.every((text) => typeof text === 'string' && text !== '')
}

function checkSecrets(secret: SessmgrOptions['secret']): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? [])
  const good = Array.isArray(secrets) && secrets.every((one) => typeof one === 'string' && one.length >= 32)
  if (!good || (secret !== undefined && secrets.length === 0)) {
    throw invalidOption('"secret" must be a text of at least 32 characters, or an array of such texts, newest first')
  }
  return secrets
}

function checkPath(path = '/api'): string {
  if (typeof path === 'string' && /^(\/[^?#]*[^/?#])?$/.test(path)) return path
  throw invalidOption('"restPath" must be a path such as "/api", or "" for the root')
}

function checkHeader(name = 'X-HOST-Nonce'): string {
  if (typeof name === 'string' && /^[\w-]+$/.test(name)) return name
  throw invalidOption('"nonceHeader" must be the name of a header')
}

function checkSettings(settings: SessmgrOptions['settings'] = {}, strategies: readonly LimitStrategy[]): CodeSettings {
  requireObject('"settings"', settings)
  requireKnown(settings, SETTING_NAMES, (name) => `There is no option "settings.${name}"`, MEANT_SETTINGS)
  const { maximum, logic } = settings
  if (maximum !== undefined && typeof maximum !== 'function' && !isMaximum(maximum)) {
    throw invalidOption(
      `"settings.maximum" must be a whole number of at least 1, or a function of the user id; it is ${inWords(maximum)}`,
    )
  }
  const logics = [...BUILT_IN_LOGICS, ...strategies.map(({ id }) => id)]
  if (logic !== undefined && !logics.includes(logic)) {
    const near = nearestName(String(logic), logics)
    throw invalidOption(`"settings.logic" must be one of ${logics.join(', ')}; it is ${String(logic)}`, near)
  }
  return Object.fromEntries(Object.entries({ maximum, logic }).filter(([, value]) => value !== undefined))
}

function requireFunction(value: unknown, name: string, example: string): void {
  if (value !== undefined && typeof value !== 'function') {
    throw invalidOption(`"${name}" must be a function such as ${example}`)
  }
}
