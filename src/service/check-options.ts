import { invalidOption } from '../ground/invalid-option.ts'
import { inWords, nearestName, requireKnown, requireMethods, requireObject } from '../ground/option-checks.ts'
import type { Host, HostUsers } from '../host/host.ts'
import type { LabelLimits } from '../limiter/decision/label-group.ts'
import {
  A_MAXIMUM,
  type CodeSettings,
  isMaximum,
  MEANT_SETTINGS,
  problemOf,
  SETTING_NAMES,
} from '../options/setting-rules.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimitStrategy } from '../strategies/limit-strategy.ts'
import { modeIds } from '../strategies/logic-catalogue.ts'

/**
 * Checks at startup that a store is one of ours. Anyone else's database needs only a driver for documentStore().
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkStore(_name: string, store: SessmgrStore): void {
  if (store?.sessions && store.epoch && store.options) return
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
export function checkHost(_name: string, host: Host): void {
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
}

/** The labels of sessions, unless the application sets `labelOf`. */
const LABELS = ['desktop', 'mobile']

/** Checks the `limits` option. @throws SessmgrError `invalid_option`. */
export function checkLimits(_name: string, limits: object): void {
  if (typeof limits === 'function') return
  requireObject('"limits"', limits)
  for (const [label, limit] of Object.entries(limits)) {
    if (!isMaximum(limit)) throw invalidOption(`"limits.${label}" must be ${A_MAXIMUM}; got ${inWords(limit)}`)
  }
}

/**
 * Checks whether the `limits` and `labelOf` options fit together. Returns undefined if there are no limits for labels.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function labelLimits(
  { limits, labelOf, login }: { [Name in 'limits' | 'labelOf']?: LabelLimits[Name] | undefined } & { login?: unknown },
  deadlineMs: number,
): LabelLimits | undefined {
  if (limits === undefined) {
    if (labelOf) throw invalidOption('"labelOf" has no effect without "limits", such as { desktop: 1 }')
    return undefined
  }
  const own = { ...(labelOf && { labelOf }), deadlineMs }
  if (typeof limits === 'function') return { limits, ...own }
  const unknown = labelOf || login ? undefined : Object.keys(limits).find((label) => !LABELS.includes(label))
  if (unknown !== undefined) {
    const rule = `"limits.${unknown}" has no effect: without "labelOf", the labels are ${LABELS.join(' and ')}`
    throw invalidOption(rule, nearestName(unknown, LABELS))
  }
  return { limits: { ...limits }, ...own }
}

/** Checks whether a value is the name of a cookie. */
export function isCookieName(name: unknown): boolean {
  return typeof name === 'string' && /^(?!__)[\w.-]+$/.test(name)
}

/** Checks whether a value is a secret, or an array of secrets. */
export function isSecret(secret: unknown): boolean {
  const secrets = Array.isArray(secret) ? secret : [secret]
  return secrets.length > 0 && secrets.every((one) => typeof one === 'string' && one.length >= 32)
}

/**
 * Checks the `settings` option, except the mode.
 *
 * @throws SessmgrError `invalid_option` with the setting and, if it looks mistyped, the nearest known name.
 */
export function checkSettings(_name: string, settings: CodeSettings): void {
  requireObject('"settings"', settings, '{ maximum: 2 }')
  requireKnown(settings, SETTING_NAMES, (name) => `There is no option "settings.${name}"`, MEANT_SETTINGS)
  for (const name of SETTING_NAMES) {
    // The mode is checked later, with those that the application adds.
    const takesFunction = name === 'maximum' || name === 'max_age'
    if (name === 'logic' || (takesFunction && typeof settings[name] === 'function')) continue
    const problem = problemOf(name, settings[name], [])
    const orFunction = takesFunction ? ', or a function of the user id' : ''
    if (problem) throw invalidOption(`"settings.${name}" ${problem}${orFunction}; got ${inWords(settings[name])}`)
  }
}

/** Checks whether the mode in the settings exists. @throws SessmgrError `invalid_option` with the nearest mode. */
export function checkLogic(logic: unknown, strategies: readonly LimitStrategy[]): void {
  const logics = modeIds(strategies)
  if (logic === undefined || logics.includes(logic as string)) return
  const near = nearestName(String(logic), logics)
  throw invalidOption(`"settings.logic" must be one of ${logics.join(', ')}; got ${String(logic)}`, near)
}
