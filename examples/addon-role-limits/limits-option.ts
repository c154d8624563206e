import type { OptionRegistry, SiteOption } from 'sessmgr'
import * as z from 'zod'

/** Limits by role, or by the login name of a user. */
export type Limits = Readonly<Record<string, number>>

/** The value of the `role_limits` option. */
export interface RoleLimits {
  readonly roles: Limits
  readonly users: Limits
}

/**
 * Registers the `role_limits` option, which the admin screen and scripts read and write at `/wp/v2/settings`.
 *
 * Accepts numbers as strings, and drops empty limits. For any other invalid value, the error names the value, and
 * nothing is written.
 */
export function registerRoleLimits(options: OptionRegistry): SiteOption<RoleLimits> {
  return options.register<RoleLimits>('role_limits', {
    schema: z.object({ roles: limitsSchema(problemOfName), users: limitsSchema(problemOfLogin) }),
    default: { roles: {}, users: {} },
    rest: true,
    sanitize: (value) =>
      Object.fromEntries(Object.entries(Object(value)).map(([group, limits]) => [group, tidy(limits)])),
  })
}

type NameCheck = (name: string, all: readonly string[]) => string | undefined

function limitsSchema(nameProblem: NameCheck) {
  return z.custom<Limits>(isRecord, 'must be an object of limits by name').superRefine((limits, context) => {
    for (const [name, limit] of Object.entries(limits)) {
      const problem = nameProblem(name, Object.keys(limits)) ?? problemOfLimit(limit)
      if (problem) context.addIssue({ code: 'custom', path: [name], message: problem })
    }
  })
}

function problemOfName(name: string): string | undefined {
  return name === '' || name.trim() !== name ? 'is not a valid name: it is empty or has spaces around it' : undefined
}

/** Returns the problem with a login name. Ignores case, as applications do when they find a user by login name. */
function problemOfLogin(name: string, all: readonly string[]): string | undefined {
  const same = all.filter((other) => other.toLowerCase() === name.toLowerCase())
  return same.length > 1 ? 'occurs more than once, with different case' : problemOfName(name)
}

function problemOfLimit(limit: unknown): string | undefined {
  return Number.isSafeInteger(limit) && (limit as number) >= 1 ? undefined : 'must be a whole number, 1 or more'
}

function tidy(limits: unknown): unknown {
  if (!isRecord(limits)) return limits
  const entries = Object.entries(limits).filter(([, limit]) => limit !== '' && limit !== null)
  // Always in the same order, so that the screen can detect changes.
  return Object.fromEntries(entries.map(([name, limit]) => [name, numberOf(limit)] as const).sort(byName))
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]) => (one < other ? -1 : 1)

function numberOf(limit: unknown): unknown {
  return typeof limit === 'string' && /^\d+$/.test(limit.trim()) ? Number(limit) : limit
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
