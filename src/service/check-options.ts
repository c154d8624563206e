import { invalidOption } from '../ground/invalid-option.ts'
import {
  inWords,
  nearestName,
  requireBoolean,
  requireKnown,
  requireMethods,
  requireObject,
} from '../ground/option-checks.ts'
import type { Host, HostUsers } from '../host/host.ts'
import type { LabelLimits } from '../limiter/decision/label-group.ts'
import {
  A_MAXIMUM,
  type CodeSettings,
  idleProblem,
  isMaximum,
  MEANT_SETTINGS,
  SETTING_NAMES,
  switchProblem,
} from '../options/setting-rules.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimitStrategy } from '../strategies/limit-strategy.ts'
import { BUILT_IN } from '../strategies/logic-catalogue.ts'

/**
 * Checks at startup that a store is one of ours. Anyone else's database needs only a driver for documentStore().
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkStore(store: SessmgrStore | undefined): void {
  if (store === undefined || (store?.sessions && store.epoch && store.options)) return
  throw invalidOption(
    '"store" must be a store from memoryStore(), sqliteStore(), postgresStore(), redisStore() or documentStore()' +
      adviceFor(store),
  )
}

function adviceFor(store: unknown): string {
  if (typeof store === 'function') return `. Call the function: store: ${store.name}(…)`
  if (typeof Object(store).then === 'function') return '; got a promise. Write await before the call that returns it'
  return '; a session store belongs in "sessionStore"'
}

/**
 * Checks the `sessionStore` option.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkSessionStore(name: string, store: unknown): void {
  if (typeof Object(store).get === 'function') return
  throw invalidOption(`"${name}" must be the express-session store; got ${foundInstead(store)}`)
}

function foundInstead(store: unknown): string {
  if (typeof store !== 'function') return inWords(store)
  if (store.length === 3) return 'the session middleware. Pass its store: the one that you pass to session({ store })'
  return `the class. Create the store: new ${store.name}(…)`
}

const USERS = ['search', 'url'] as const satisfies readonly (keyof HostUsers)[]
const NEEDS_BOTH = ': "attempts" needs both allow and failed'
const COMMENTS_ALONE = 'To use only lazy comments, without users, call createLazyComments() from sessmgr/comments'

/**
 * Checks at startup that the `host` option has all required methods. Unknown names are the application's own.
 *
 * @throws SessmgrError `invalid_option` that names what is missing.
 */
export function checkHost(host: Host | undefined): Host | undefined {
  if (host === undefined) return undefined
  if (!host?.users) {
    const advice = host?.posts || host?.theme ? `. ${COMMENTS_ALONE}` : ''
    const needed = '"host" must have users and permissions: sessmgr({ host: { users, can } })'
    throw invalidOption(needed + advice)
  }
  requireMethods('host.users', host.users, ['findById', 'findByEmail', 'findByLogin', 'summary'])
  requireMethods('host', host, ['can'], ' such as (user, capability) => boolean')
  for (const name of USERS) {
    if (host.users[name] !== undefined) requireMethods('host.users', host.users, [name])
  }
  if (host.location !== undefined) requireMethods('host', host, ['location'])
  if (host.attempts !== undefined) requireMethods('host.attempts', host.attempts, ['allow', 'failed'], NEEDS_BOTH)
  for (const [given, missing] of [
    ['posts', 'theme'],
    ['theme', 'posts'],
  ] as const) {
    if (host[given] === undefined || host[missing] !== undefined) continue
    throw invalidOption(`"host.${given}" has no effect without "host.${missing}". Lazy comments need both`)
  }
  return host
}

/** The labels of sessions, unless the application sets `labelOf`. */
const LABELS = ['desktop', 'mobile']

/**
 * Checks the `limits` and `labelOf` options. Returns undefined if there are no limits for labels.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkLabels(
  { limits, labelOf }: { readonly limits?: unknown; readonly labelOf?: unknown },
  deadlineMs: number,
): LabelLimits | undefined {
  if (labelOf !== undefined && typeof labelOf !== 'function') {
    throw invalidOption(`"labelOf" must be a function such as ({ userAgent }) => 'desktop'; got ${inWords(labelOf)}`)
  }
  if (limits === undefined) {
    if (labelOf) throw invalidOption('"labelOf" has no effect without "limits", such as { desktop: 1 }')
    return undefined
  }
  requireObject('"limits"', limits)
  for (const [label, limit] of Object.entries(limits as object)) {
    if (!labelOf && !LABELS.includes(label)) {
      const rule = `"limits.${label}" has no effect: without "labelOf", the labels are ${LABELS.join(' and ')}`
      throw invalidOption(rule, nearestName(label, LABELS))
    }
    if (!isMaximum(limit)) throw invalidOption(`"limits.${label}" must be ${A_MAXIMUM}; got ${inWords(limit)}`)
  }
  const own = typeof labelOf === 'function' ? { labelOf: labelOf as NonNullable<LabelLimits['labelOf']> } : {}
  return { limits: { ...(limits as LabelLimits['limits']) }, ...own, deadlineMs }
}

interface DeviceOptions {
  readonly device?: unknown
  readonly deviceCookie?: { readonly name?: unknown } | undefined
}

/**
 * Checks the `device` and `deviceCookie` options.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkDevice({ device, deviceCookie = {} }: DeviceOptions): { device: boolean; deviceName: string } {
  if (device !== undefined) requireBoolean('device', device)
  requireObject('"deviceCookie"', deviceCookie)
  requireKnown(deviceCookie, ['name'], (name) => `There is no option "deviceCookie.${name}"`)
  const { name = 'sessmgr_device' } = deviceCookie
  if (typeof name !== 'string' || !/^(?!__)[\w.-]+$/.test(name)) {
    const rule = 'of letters, digits, "_", "-" and ".", and without "__Host-", which is added over HTTPS'
    throw invalidOption(`"deviceCookie.name" must be a cookie name ${rule}`)
  }
  if (device === undefined && deviceCookie.name !== undefined) {
    throw invalidOption('"deviceCookie" has no effect without device: true')
  }
  return { device: device === true, deviceName: name }
}

/**
 * Checks the `secret` option.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkSecrets(secret: string | readonly string[] | undefined): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? [])
  const good = Array.isArray(secrets) && secrets.every((one) => typeof one === 'string' && one.length >= 32)
  if (!good || (secret !== undefined && secrets.length === 0)) {
    throw invalidOption(
      '"secret" must be a string of at least 32 characters, or an array of such strings, newest first',
    )
  }
  return secrets
}

/**
 * Checks the `settings` option, and drops undefined settings.
 *
 * @throws SessmgrError `invalid_option` with the setting and, if it looks mistyped, the nearest known name.
 */
export function checkSettings(
  settings: { [K in keyof CodeSettings]?: CodeSettings[K] | undefined } = {},
  strategies: readonly LimitStrategy[],
): CodeSettings {
  requireObject('"settings"', settings, '{ maximum: 2 }')
  requireKnown(settings, SETTING_NAMES, (name) => `There is no option "settings.${name}"`, MEANT_SETTINGS)
  const { maximum, logic, idle_release, enforce } = settings
  if (maximum !== undefined && typeof maximum !== 'function' && !isMaximum(maximum)) {
    throw invalidOption(
      `"settings.maximum" must be a whole number of at least 1, or a function of the user id; got ${inWords(maximum)}`,
    )
  }
  const logics = [...BUILT_IN, ...strategies].map(({ id }) => id)
  if (logic !== undefined && !logics.includes(logic)) {
    const near = nearestName(String(logic), logics)
    throw invalidOption(`"settings.logic" must be one of ${logics.join(', ')}; got ${String(logic)}`, near)
  }
  for (const [name, value, problemOf] of [
    ['idle_release', idle_release, idleProblem],
    ['enforce', enforce, switchProblem],
  ] as const) {
    const problem = value === undefined ? undefined : problemOf(value)
    if (problem) throw invalidOption(`"settings.${name}" ${problem}; got ${inWords(value)}`)
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}
