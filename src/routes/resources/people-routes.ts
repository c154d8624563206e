import { isIP } from 'node:net'
import * as z from 'zod/mini'
import { isUserId, type UserId } from '../../ground/user-id.ts'
import type { Host } from '../../host/host.ts'
import { resolveUsers } from '../../host/users.ts'
import type { SessionSettings } from '../../options/setting-rules.ts'
import { plainAddress } from '../../sessions/address.ts'
import { countBySessions, type PeopleCounts, totalOf } from '../../sessions/people-index.ts'
import { MOST_SESSIONS } from '../../sessions/session-registry.ts'
import { invalidParams, RestError } from '../answer.ts'
import { byAdmin } from '../caller.ts'
import { type RestRoute, restRoute } from '../router.ts'
import { exportRoutes } from './export-routes.ts'
import {
  AT_ONCE_MS,
  isAtLimit,
  peoplePage,
  personRowSchema,
  personRows,
  requireDirectory,
  type SelectionParameters,
  selection,
  selectionOf,
} from './people-page.ts'
import {
  checkIdentifier,
  countedIn,
  once,
  pageLimit,
  personSchema,
  type RouteParts,
  requireUser,
  type UserParameters,
  userFields,
} from './route-parts.ts'

const DEFAULT_LIMIT = 50
const MOST_ON_A_PAGE = 100
const DAY_MS = 24 * 60 * 60_000

/** Returns the routes that list, count and find the people who are signed in, and erase a user. */
export function peopleRoutes(parts: RouteParts): readonly RestRoute[] {
  return [listRoute(parts), summaryRoute(parts), searchRoute(parts), ...exportRoutes(parts), eraseRoute(parts)]
}

function listRoute(parts: RouteParts): RestRoute {
  return restRoute<SelectionParameters & { limit?: string; cursor?: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/people',
    summary:
      "Lists the people who are signed in. To get the next page, send `next` as `cursor`. A call reads at most 500 people: if that shortens the page, `exact` is false. With `show=over_limit`, `than` replaces each user's maximum. `show=places` lists users seen in several places within 15 minutes. Needs the `directory` option. Times are Unix seconds.",
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({
        ...selection,
        limit: z.optional(pageLimit(MOST_ON_A_PAGE)),
        cursor: z.optional(once.check(z.regex(/^[\w.:-]{1,4000}$/, 'must be the `next` of a page'))),
      }),
      response: z.object({ people: z.array(personRowSchema), next: z.optional(z.string()), exact: z.boolean() }),
    }),
    async handle({ params: { limit: most = DEFAULT_LIMIT, cursor, ...selected } }) {
      const { people, ...page } = await peoplePage(parts, { ...selectionOf(selected), cursor }, Number(most))
      return { people: await personRows(parts, people), ...page }
    },
  })
}

function summaryRoute(parts: RouteParts): RestRoute {
  const { settings } = parts.limiter
  return restRoute({
    methods: ['GET'],
    path: '/sessmgr/v1/people/summary',
    summary:
      'Counts the people who are signed in, those who used a session in the last 15 minutes, and those at or over their limit, enforced or not. `by_sessions` counts them by their number of sessions, in ascending order. `exact` is false if the index may be out of date. With more than 500 people, `used_exact` is false, and so is `limits_exact` if users have their own maximums. Needs the `directory` option.',
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({}),
      response: z.object({
        people: z.int(),
        sessions: z.int(),
        by_sessions: z.array(z.object({ sessions: z.int(), people: z.int() })),
        used_15m: z.int(),
        at_limit: z.int(),
        over_limit: z.int(),
        enforced: z.boolean(),
        refused_24h: z.nullable(z.int()),
        exact: z.boolean(),
        limits_exact: z.boolean(),
        used_exact: z.boolean(),
      }),
    }),
    async handle() {
      const [current, refused] = await Promise.all([settings.get(), parts.refusedSince(Date.now() - DAY_MS)])
      return { ...(await totals(parts, current)), enforced: current.enforce, refused_24h: refused }
    },
  })
}

/** Counts the people who are signed in: one by one if there are few, otherwise by the index. */
async function totals(parts: RouteParts, settings: SessionSettings) {
  const { hooks } = parts.limiter
  const directory = await requireDirectory(parts)
  const { people, next } = await peoplePage(parts, { show: 'all', sort: 'recent' }, LOOKED_AT, settings)
  const recent = Date.now() - AT_ONCE_MS
  const used = people.filter(({ live }) => live.some(({ lastSeenAt }) => lastSeenAt >= recent)).length
  if (next === undefined) {
    const exact = directory.isComplete()
    return {
      people: people.length,
      sessions: people.reduce((sum, { live }) => sum + live.length, 0),
      by_sessions: ascending(countBySessions(people.map(({ live }) => countedIn(live)))),
      used_15m: used,
      at_limit: people.filter((person) => isAtLimit(person, 0)).length,
      over_limit: people.filter((person) => isAtLimit(person, 1)).length,
      exact,
      limits_exact: exact && people.every(({ limit }) => limit),
      used_exact: exact,
    }
  }
  const { counts, exact } = await directory.count()
  const most = Math.min(settings.maximum, MOST_SESSIONS)
  return {
    ...totalOf(counts),
    by_sessions: ascending(counts),
    used_15m: used,
    at_limit: totalOf(counts, most).people,
    over_limit: totalOf(counts, most + 1).people,
    exact,
    limits_exact: exact && !OWN_LIMITS.some((name) => hooks.hasFilter(name)),
    used_exact: false,
  }
}

function ascending(counts: PeopleCounts) {
  return [...counts].map(([sessions, people]) => ({ sessions, people })).sort((a, b) => a.sessions - b.sessions)
}

const OWN_LIMITS = ['sessmgr_maximum', 'sessmgr_bypass', 'sessmgr_enforce'] as const

const MOST_FOUND = 8
const LONGEST = 200
/** How many people to check at most, to count them one by one or to find those at an address. */
const LOOKED_AT = 500

const found = z.array(z.object({ user: personSchema, live: z.int() }))

/** Returns the route that finds users as an administrator types. */
function searchRoute(parts: RouteParts): RestRoute {
  const { limiter, host, details, findSignedIn } = parts

  async function rowOf(user: unknown) {
    const person = await details.personOf(user)
    return { user: person, live: (await limiter.sessions.list(person.id)).length }
  }

  /** Finds users by part of their name. Users with exactly this name come first. */
  async function usersFor(q: string) {
    const similar = await details.search(q, MOST_FOUND)
    if (!similar) return resolveUsers(host.users, q)
    // The application's database may refuse part of a name as an id.
    const exact = await resolveUsers(host.users, q).catch(() => [])
    const unique = new Map([...exact, ...similar].map((user) => [String(host.users.summary(user).id), user]))
    return [...unique.values()].slice(0, MOST_FOUND)
  }

  /** Finds the people who are signed in from an address, among those with the latest logins. */
  async function peopleAt(ip: string) {
    const { people, next } = await peoplePage(parts, { show: 'all', sort: 'recent' }, LOOKED_AT)
    const there = people.filter(({ live }) => live.some((session) => session.ip === ip))
    const rows = await Promise.all(
      there.slice(0, MOST_FOUND).map(async ({ userId, live }) => {
        const user = await details.userBy(() => findSignedIn(userId))
        return user === undefined ? [] : { user: await details.personOf(user), live: live.length }
      }),
    )
    const [place = null] = await details.placesOf([ip])
    return { ip, place, people: rows.flat(), exact: next === undefined && there.length <= MOST_FOUND }
  }

  return restRoute<{ q: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/people/search',
    summary:
      'Finds at most 8 users by part of their name, with `host.users.search`, or by an exact id, login name or email address. If `searchable` is false, only exact values find a user. With the `directory` option, an IP address also finds the people signed in from it.',
    access: 'manage_options',
    schemas: () => ({
      params: z.object({
        q: once.check(z.trim(), z.minLength(1, 'must not be empty'), z.maxLength(LONGEST, 'is too long')),
      }),
      response: z.object({
        searchable: z.boolean(),
        people: found,
        address: z.optional(
          z.object({ ip: z.string(), place: z.nullable(z.string()), people: found, exact: z.boolean() }),
        ),
      }),
    }),
    async handle({ params: { q } }) {
      const people = await Promise.all((await usersFor(q)).map(rowOf))
      const address = isIP(q) !== 0 && limiter.directory ? { address: await peopleAt(plainAddress(q)) } : {}
      return { searchable: details.canSearch, people, ...address }
    },
  })
}

/** Returns the route that erases a user. */
function eraseRoute({ eraseUser, host }: RouteParts): RestRoute {
  return restRoute<UserParameters>({
    methods: ['POST'],
    path: '/sessmgr/v1/users/erase',
    summary:
      'Ends all sessions of a user and erases their data. `events` is null if the audit sink cannot delete the events of one user. With `id`, the user need not exist.',
    access: 'manage_options',
    schemas: () => ({
      params: z.strictObject(userFields),
      response: z.object({
        success: z.boolean(),
        sessions: z.int(),
        passwords: z.int(),
        events: z.nullable(z.int()),
      }),
    }),
    precheck: checkIdentifier,
    async handle({ params, caller }) {
      return { success: true, ...(await eraseUser(await idOf(host, params), byAdmin(caller))) }
    },
  })
}

/** Returns the id of the user to erase. An id that the application no longer knows is used as given. */
async function idOf({ users }: Host, params: UserParameters): Promise<UserId> {
  try {
    return users.summary(await requireUser(users, params)).id
  } catch (error) {
    const isUnknown = error instanceof RestError && error.code === 'user_not_found'
    const { id } = params
    if (!isUnknown || id === undefined) throw error
    const given = typeof id === 'string' ? id.trim() : id
    if (!isUserId(given)) throw invalidParams({ id: 'must be a user id' })
    return given
  }
}
