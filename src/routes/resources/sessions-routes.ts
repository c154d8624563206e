import * as z from 'zod/mini'
import type { RoutedRequest } from '../../door/host-types.ts'
import { unixSeconds } from '../../ground/clock.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { Host } from '../../host/host.ts'
import type { SessionLimiter } from '../../limiter/session-limiter.ts'
import { A_MAXIMUM, isMaximum, numberOfDigits } from '../../options/setting-rules.ts'
import { deviceName, EXACT_KINDS, exactDevice } from '../../sessions/device.ts'
import type { EndedByWhom } from '../../sessions/session-end.ts'
import { type SessionRecord, TOKEN_PATTERN } from '../../sessions/session-record.ts'
import { invalidParams, RestError } from '../answer.ts'
import { byAdmin, type Caller } from '../caller.ts'
import { type RestRoute, restRoute } from '../router.ts'
import {
  checkIdentifier,
  countedIn,
  once,
  personSchema,
  type RouteParts,
  requireUser,
  shownLimit,
  type UserParameters,
  userFields,
  userLimit,
  userSummarySchema,
} from './route-parts.ts'

const MOST_AT_ONCE = 100

const token = z
  .string('must be a string')
  .check(z.regex(TOKEN_PATTERN, 'must be a session token: 64 hexadecimal digits'))

const label = z.string('must be a string').check(z.minLength(1, 'must not be empty'))

/** Returns the routes that list, end and explain sessions, of one user or of all. */
export function sessionsRoutes(parts: RouteParts): readonly RestRoute[] {
  const { limiter, host } = parts
  const { sessions } = limiter
  const { users } = host
  return [
    listRoute(parts),
    restRoute<UserParameters & { token?: string; tokens?: readonly string[]; label?: string }>({
      methods: ['POST'],
      path: '/sessmgr/v1/sessions/destroy',
      summary:
        "Ends all of a user's sessions, or only those with the given `token`, `tokens` or `label`. With `tokens` or `label`, also returns how many it ended.",
      access: 'manage_options',
      schemas: () => ({
        // Ignoring a misspelt `token` would end all sessions.
        params: z.strictObject({
          ...userFields,
          token: z.optional(token),
          label: z.optional(label),
          tokens: z.optional(
            z
              .array(token, 'must be an array of session tokens')
              .check(z.minLength(1, 'must not be empty'), z.maxLength(MOST_AT_ONCE, `must be at most ${MOST_AT_ONCE}`)),
          ),
        }),
        response: z.object({
          success: z.boolean(),
          user: userSummarySchema,
          ended: z.optional(z.int()),
          already_ended: z.optional(z.int()),
        }),
      }),
      precheck: checkIdentifier,
      async handle({ params, caller, request }) {
        const given = (['token', 'label', 'tokens'] as const).filter((name) => params[name] !== undefined)
        if (given[1]) throw invalidParams({ [given[1]]: `cannot be combined with ${given[0]}` })
        const summary = users.summary(await requireUser(users, params))
        // Otherwise, callers who end their own session would read that an administrator ended it.
        const whom = caller?.userId === summary.id ? await byUser(summary.id, request) : byAdmin(caller)
        if (params.tokens) {
          const tokens = [...new Set(params.tokens)]
          const ended = await limiter.endSeveral(summary.id, tokens, whom)
          return { success: true, user: summary, ended, already_ended: tokens.length - ended }
        }
        if (params.label !== undefined) {
          return {
            success: true,
            user: summary,
            ended: await sessions.endAll(summary.id, { ...whom, label: params.label }),
          }
        }
        if (params.token === undefined) await sessions.endAll(summary.id, whom)
        else if (!(await sessions.end(summary.id, params.token, whom))) {
          throw new RestError(404, 'session_not_found', 'This user has no session with this token.')
        }
        return { success: true, user: summary }
      },
    }),
    restRoute({
      methods: ['POST'],
      path: '/sessmgr/v1/sessions/destroy-all',
      summary: 'Logs out every user. A caller with a cookie and a nonce keeps their own session.',
      access: 'manage_options',
      schemas: () => ({
        params: z.object({}),
        response: z.object({ success: z.boolean(), epoch: z.int(), durable: z.boolean() }),
      }),
      async handle({ caller }) {
        const keep = caller?.token === undefined ? undefined : { userId: caller.userId, token: caller.token }
        return { success: true, epoch: await sessions.logoutAllUsers(keep, byAdmin(caller)), durable: !limiter.isLocal }
      },
    }),
    explainRoute(limiter, host),
  ]
}

/** Describes users who end their own sessions, and the device on which they do. */
async function byUser(actor: UserId, { headers }: RoutedRequest): Promise<EndedByWhom> {
  const { name } = await deviceName(headers['user-agent'] ?? null)
  return { by: 'user', actor, device: name ?? undefined }
}

const MOST_ON_A_PAGE = 1000
/** A number in a query, short enough to be exact. */
const digits = once.check(z.regex(/^\d{1,15}$/, 'must be a whole number'))
const limit = digits.check(
  z.refine((text) => Number(text) >= 1 && Number(text) <= MOST_ON_A_PAGE, `must be from 1 to ${MOST_ON_A_PAGE}`),
  z.describe(`from 1 to ${MOST_ON_A_PAGE}`),
)

/** Returns the route that lists a user's sessions, with their limit. */
function listRoute(parts: RouteParts): RestRoute {
  const { limiter, host, details, textsFor } = parts
  return restRoute<UserParameters & { limit?: string; after?: string; label?: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/sessions',
    summary:
      "Lists a user's live sessions, oldest first. To get the next page, send `next_after` as `after`. Times are Unix seconds.",
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({ ...userFields, limit: z.optional(limit), after: z.optional(digits), label: z.optional(once) }),
      response: z.object({
        user: personSchema,
        sessions: z.array(sessionRowSchema),
        limit: z.nullable(
          z.object({
            maximum: z.nullable(z.int()),
            maximum_if_enforced: z.optional(z.nullable(z.int())),
            logic: z.string(),
            over: z.boolean(),
          }),
        ),
        next_after: z.optional(z.int()),
      }),
    }),
    precheck: checkIdentifier,
    async handle({ params, caller, request }) {
      const person = await details.personOf(await requireUser(host.users, params))
      const most = Number(params.limit ?? MOST_ON_A_PAGE)
      const after = Number(params.after ?? 0)
      const [records, settings] = await Promise.all([
        limiter.sessions.list(person.id, { limit: most + 1, after, label: params.label }),
        limiter.settings.get(),
      ])
      const page = records.slice(0, most)
      const pattern = textsFor(request).say('account_device')
      const [found, rows] = await Promise.all([
        userLimit(limiter, person.id, settings),
        sessionRows(parts, page, { caller, pattern }),
      ])

      /** Checks whether the user has more sessions than `maximum`. Counts them only if the page does not show it. */
      async function isOver(maximum: number): Promise<boolean> {
        const count = countedIn(page)
        const isWhole = after === 0 && params.label === undefined && records.length <= most
        return (count > maximum || isWhole ? count : await limiter.sessions.count(person.id)) > maximum
      }

      const last = records.length > most ? page.at(-1) : undefined
      const shown = found && shownLimit(found)
      const over = typeof shown?.maximum === 'number' && (await isOver(shown.maximum))
      return {
        user: person,
        sessions: rows,
        limit: shown ? { ...shown, logic: settings.logic, over } : null,
        ...(last && { next_after: last.sequence }),
      }
    },
  })
}

/** Schema of a session. Times are Unix seconds. */
const sessionRowSchema = z.object({
  token: z.string(),
  created: z.int(),
  last_seen: z.int(),
  expires: z.int(),
  ip: z.nullable(z.string()),
  place: z.nullable(z.string()),
  user_agent: z.nullable(z.string()),
  device: z.object({ name: z.nullable(z.string()), kind: z.enum(EXACT_KINDS) }),
  same_browser: z.nullable(z.string()),
  label: z.nullable(z.string()),
  counts: z.boolean(),
  actor: z.nullable(z.union([z.int(), z.string()])),
  bound: z.boolean(),
  current: z.boolean(),
})

export type SessionRow = z.infer<typeof sessionRowSchema>

/**
 * Returns rows of a user's sessions.
 *
 * @param reader `pattern`: how a browser and a system are named together.
 */
export async function sessionRows(
  { details }: Pick<RouteParts, 'details'>,
  records: readonly SessionRecord[],
  { caller, pattern }: { caller: Caller | undefined; pattern: string },
): Promise<readonly SessionRow[]> {
  const places = await details.placesOf(records.map(({ ip }) => ip))
  const devices = await Promise.all(records.map(({ userAgent }) => exactDevice(userAgent, pattern)))
  /** The last session of each browser so far. */
  const latest = new Map<string, string>()
  return records.map((record, index) => {
    const sameBrowser = record.device ? latest.get(record.device) : undefined
    if (record.device) latest.set(record.device, record.token)
    return {
      token: record.token,
      created: unixSeconds(record.createdAt),
      last_seen: unixSeconds(record.lastSeenAt),
      expires: unixSeconds(record.expiresAt),
      ip: record.ip,
      place: places[index] ?? null,
      user_agent: record.userAgent,
      device: devices[index] as SessionRow['device'],
      same_browser: sameBrowser ?? null,
      label: record.label,
      counts: record.counts,
      actor: record.actor,
      bound: record.bound !== null,
      current: record.token === caller?.token,
    }
  })
}

/** Returns the route that explains how the limit applies to a user. */
function explainRoute({ explain, modes }: SessionLimiter, { users }: Host): RestRoute {
  const isMode = (id: string) => modes.strategyOf(id).id === id
  return restRoute<UserParameters & { mode?: string; maximum?: string; user_agent?: string; label?: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/explain',
    summary: 'Explains how the limit applies to a user and their next login. Changes nothing. Times are Unix seconds.',
    access: 'manage_options',
    schemas: () => ({
      params: z.object({
        ...userFields,
        mode: z.optional(once.check(z.refine(isMode, 'must be a mode id'))),
        maximum: z.optional(once.check(z.refine((text) => isMaximum(numberOfDigits(text)), `must be ${A_MAXIMUM}`))),
        user_agent: z.optional(once),
        label: z.optional(once),
      }),
      response: z.object({
        user: userSummarySchema,
        maximum: z.int(),
        from: z.enum(['settings', 'filter', 'options']),
        bypassed: z.boolean(),
        enforced: z.boolean(),
        mode: z.string(),
        max_age: z.number(),
        next_login: z.enum(['admitted', 'ends', 'asked', 'refused']),
        need: z.optional(z.int()),
        label: z.optional(z.string()),
        limits: z.optional(z.record(z.string(), z.int())),
        free_at: z.optional(z.int()),
        sessions: z.array(
          z.object({
            token: z.string(),
            device: z.nullable(z.string()),
            created: z.int(),
            last_seen: z.int(),
            expires: z.int(),
            counts: z.boolean(),
            label: z.optional(z.string()),
            idle: z.boolean(),
            would_end: z.boolean(),
          }),
        ),
      }),
    }),
    precheck: checkIdentifier,
    async handle({ params }) {
      const { mode, maximum, user_agent: userAgent, label } = params
      const user = users.summary(await requireUser(users, params))
      const assumed = { mode, maximum: maximum === undefined ? undefined : Number(maximum), userAgent, label }
      const { live, nextLogin, freeAt, maxAge, ...limit } = await explain(user.id, assumed)
      const sessions = live.map(({ createdAt, lastSeenAt, expiresAt, wouldEnd, ...session }) => ({
        ...session,
        created: unixSeconds(createdAt),
        last_seen: unixSeconds(lastSeenAt),
        expires: unixSeconds(expiresAt),
        would_end: wouldEnd,
      }))
      const free = freeAt === undefined ? {} : { free_at: Math.ceil(freeAt / 1000) }
      return { user, ...limit, max_age: maxAge, next_login: nextLogin, ...free, sessions }
    },
  })
}
