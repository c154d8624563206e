import * as z from 'zod/mini'
import { SessmgrError } from '../../ground/errors.ts'
import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Host, HostUsers } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/users.ts'
import { type IdentifierKind, resolveUsers } from '../../host/users.ts'
import { limitOf, type UserLimit } from '../../limiter/decision/refusals.ts'
import type { ErasedUser } from '../../limiter/ending/erase-user.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import type { EndedByWhom } from '../../sessions/session-end.ts'
import type { SessionRecord } from '../../sessions/session-record.ts'
import type { TextsFor } from '../../texts/texts-for.ts'
import { invalidParams, RestError } from '../answer.ts'
import type { HostDetails } from './host-details.ts'

/** Dependencies of the routes of the session limit. */
export interface RouteParts {
  readonly limiter: SessionLimiter
  readonly host: Host
  readonly details: HostDetails
  readonly textsFor: TextsFor
  readonly findSignedIn: FindSignedIn
  /** Erases a user; see `limiter.eraseUser`. */
  eraseUser(userId: UserId, whom: EndedByWhom): Promise<ErasedUser>
  /** Counts the refused logins since a time. Resolves to null if this is unknown. */
  refusedSince(ms: number): Promise<number | null>
}

const TEXT = 'must be a string, set exactly once'
const ID = 'must be an integer or a string, set exactly once'

/** Fields that identify a user: `user` takes any identifier, the others take one kind each. */
export const userFields = {
  user: z.optional(z.string(TEXT)),
  id: z.optional(z.union([z.int(ID), z.string()], ID)),
  login: z.optional(z.string(TEXT)),
  email: z.optional(z.string(TEXT)),
}

/** Parameters that identify a user. */
export interface UserParameters {
  readonly user?: string
  readonly id?: string | number
  readonly login?: string
  readonly email?: string
}

const FIELDS = Object.keys(userFields) as (keyof UserParameters)[]

/** Schema of a user in responses. */
export const userSummarySchema = z.object({
  id: z.union([z.int(), z.string()]),
  login: z.string(),
  display_name: z.string(),
  email: z.optional(z.string()),
})

/** Checks whether any parameter identifies a user. */
export function isUserNamed(params: { readonly [K in keyof UserParameters]?: unknown }): boolean {
  return FIELDS.some((field) => params[field] !== undefined)
}

/** Schema of a user as administrators see them, with the URL of their page in the application. */
export const personSchema = z.extend(userSummarySchema, { url: z.optional(z.string()) })

/** Rejects a missing or blank identifier, and more than one. */
export function checkIdentifier(params: Readonly<Record<string, unknown>>): void {
  const [first, second] = FIELDS.filter((field) => !isBlank(params[field]))
  if (first === undefined) {
    throw new RestError(
      400,
      'missing_identifier',
      'Name a user: send `user` (an id, email address or login name), `id`, `login` or `email`.',
    )
  }
  if (second !== undefined) throw invalidParams({ [second]: `cannot be combined with ${first}` })
}

/**
 * Finds the user that the parameters of a call identify.
 *
 * @throws RestError 404 `user_not_found`, 409 `ambiguous_identifier`.
 */
export async function requireUser(users: HostUsers, params: UserParameters): Promise<unknown> {
  const field = FIELDS.find((name) => !isBlank(params[name])) ?? 'user'
  const kind: IdentifierKind | undefined = field === 'user' ? undefined : field
  const [user, other] = await resolveUsers(users, String(params[field] ?? ''), kind)
  if (user === undefined) throw new RestError(404, 'user_not_found', 'This user does not exist.')
  if (other !== undefined) {
    throw new RestError(
      409,
      'ambiguous_identifier',
      "This is one user's login name and another user's id. Use login or id instead. Nothing was changed.",
    )
  }
  return user
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

/** Schema of a query parameter. */
export const once = z.string('must be set exactly once')

/**
 * Returns the schema of a parameter that limits the entries of a page.
 *
 * @param most The highest limit, of up to three digits.
 */
export function pageLimit(most: number) {
  const range = `from 1 to ${most}`
  return once.check(
    z.regex(/^\d{1,3}$/, { error: `must be ${range}`, abort: true }),
    z.refine((text) => Number(text) >= 1 && Number(text) <= most, `must be ${range}`),
    z.describe(range),
  )
}

/** Logs nothing. The next login logs a failing filter; a list would log it for each user, every time it is read. */
const QUIET: Logger = { warn() {}, error() {} }

/**
 * Returns how many sessions a user may have. Resolves to undefined if a filter of the application fails, because
 * administrators must still be able to see and end sessions.
 *
 * @throws SessmgrError `store_unavailable`.
 */
export async function userLimit(
  { hooks, settings }: Pick<SessionLimiter, 'hooks' | 'settings'>,
  userId: UserId,
  current: SessionSettings,
): Promise<UserLimit | undefined> {
  try {
    return await limitOf({ hooks, settings, logger: QUIET }, userId, current)
  } catch (error) {
    if (!(error instanceof SessmgrError) || !error.code.startsWith('hook_')) throw error
    return undefined
  }
}

/** Returns how many sessions count toward the limit. */
export function countedIn(sessions: readonly SessionRecord[]): number {
  return sessions.filter(({ counts }) => counts).length
}

/** Returns a user's limit as it appears in responses, with `maximum_if_enforced` only if it is not enforced. */
export function shownLimit({ maximum, enforced }: UserLimit) {
  return enforced ? { maximum } : { maximum: null, maximum_if_enforced: maximum }
}
