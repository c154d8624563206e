import * as z from 'zod/mini'
import { A_MAXIMUM, isMaximum } from '../../options/setting-rules.ts'
import { type RestRoute, restRoute } from '../rest-route.ts'
import type { RouteParts } from '../sessions/route-parts.ts'
import { exportRoutes } from './export-routes.ts'
import { pageLimit } from './page-limit.ts'
import { type PeopleSelection, peoplePage, requireDirectory } from './people-page.ts'
import { selection } from './people-parameters.ts'
import { personRowSchema, personRows } from './person-row.ts'
import { searchRoute } from './search-route.ts'

const DEFAULT_LIMIT = 50
const MOST_ON_A_PAGE = 100
const DAY_MS = 24 * 60 * 60_000
const ONCE = 'must be set exactly once'

const maximum = z.string(ONCE).check(
  z.refine((text) => isMaximum(Number(text)), `must be ${A_MAXIMUM}`),
  z.describe(A_MAXIMUM),
)

/** Lists, counts and finds the people who are signed in. */
export function peopleRoutes(parts: RouteParts): readonly RestRoute[] {
  return [listRoute(parts), summaryRoute(parts), overRoute(parts), searchRoute(parts), ...exportRoutes(parts)]
}

function listRoute(parts: RouteParts): RestRoute {
  return restRoute<PeopleSelection & { limit?: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/people',
    summary:
      'Lists the people who are signed in; `next` is the `cursor` of the next page. A call looks at 500 people at most: if the page is short for that reason, `exact` is false. Needs the option `directory`. Times are Unix seconds.',
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({
        ...selection,
        limit: z.optional(pageLimit(MOST_ON_A_PAGE)),
        cursor: z.optional(z.string(ONCE).check(z.regex(/^[\w.:-]{1,4000}$/, 'must be the `next` of a page'))),
      }),
      response: z.object({ people: z.array(personRowSchema), next: z.optional(z.string()), exact: z.boolean() }),
    }),
    async handle({ params: { show = 'all', sort = 'recent', limit: most = DEFAULT_LIMIT, cursor } }) {
      const { people, ...page } = await peoplePage(parts, { show, sort, cursor }, Number(most))
      return { people: await personRows(parts, people), ...page }
    },
  })
}

function summaryRoute(parts: RouteParts): RestRoute {
  const { hooks, settings } = parts.limiter
  return restRoute({
    methods: ['GET'],
    path: '/sessmgr/v1/people/summary',
    summary:
      'Counts the people who are signed in, and those at or over the `maximum` of the settings. `exact` is false if someone may have left since, or if users have maximums of their own. Needs the option `directory`.',
    access: 'manage_options',
    isTagged: true,
    schemas: () => ({
      params: z.object({}),
      response: z.object({
        people: z.int(),
        sessions: z.int(),
        at_limit: z.int(),
        over_limit: z.int(),
        refused_24h: z.nullable(z.int()),
        exact: z.boolean(),
      }),
    }),
    async handle() {
      const directory = await requireDirectory(parts)
      const [{ maximum, enforce }, refused] = await Promise.all([
        settings.get(),
        parts.refusedSince(Date.now() - DAY_MS),
      ])
      const { people, sessions, atLeast, exact } = await directory.count(maximum, maximum + 1)
      const [atLimit = 0, overLimit = 0] = enforce ? atLeast : []
      const hasOwn = (['sessmgr_maximum', 'sessmgr_bypass', 'sessmgr_enforce'] as const).some((name) =>
        hooks.hasFilter(name),
      )
      return {
        people,
        sessions,
        at_limit: atLimit,
        over_limit: overLimit,
        refused_24h: refused,
        exact: exact && !hasOwn,
      }
    },
  })
}

function overRoute(parts: RouteParts): RestRoute {
  return restRoute<{ maximum: string }>({
    methods: ['GET'],
    path: '/sessmgr/v1/people/over',
    summary:
      'Counts the people with more sessions than a `maximum`, before it is saved. `exact` is false if someone may have left since. Needs the option `directory`.',
    access: 'manage_options',
    schemas: () => ({
      params: z.object({ maximum }),
      response: z.object({ people: z.int(), exact: z.boolean() }),
    }),
    async handle({ params }) {
      const directory = await requireDirectory(parts)
      const { atLeast, exact } = await directory.count(Number(params.maximum) + 1)
      return { people: atLeast[0] ?? 0, exact }
    },
  })
}
