import { isIP } from 'node:net'
import * as z from 'zod/mini'
import { resolveUsers } from '../../host/resolve-users.ts'
import { type RestRoute, restRoute } from '../rest-route.ts'
import type { RouteParts } from '../sessions/route-parts.ts'
import { personSchema } from '../sessions/user-parameter.ts'
import { peoplePage } from './people-page.ts'

const MOST_FOUND = 8
const LONGEST = 200
/** How many people are looked at to find those at an address. */
const LOOKED_AT = 500

const found = z.array(z.object({ user: personSchema, live: z.int() }))

/** Finds users as an administrator types. */
export function searchRoute(parts: RouteParts): RestRoute {
  const { limiter, host, details, findSignedIn } = parts

  async function rowOf(user: unknown) {
    const person = await details.personOf(user)
    return { user: person, live: await limiter.sessions.count(person.id) }
  }

  /** Finds users by a part of their name. A user whose name is given exactly comes first, as the screen opens them. */
  async function usersFor(q: string) {
    const similar = await details.search(q, MOST_FOUND)
    if (!similar) return resolveUsers(host.users, q)
    // Part of a name need not be an id that the application's database can read.
    const exact = await resolveUsers(host.users, q).catch(() => [])
    const unique = new Map([...exact, ...similar].map((user) => [String(host.users.summary(user).id), user]))
    return [...unique.values()].slice(0, MOST_FOUND)
  }

  /** Finds the people who are signed in from an address, among the latest logins. */
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
      'Finds at most 8 users by a part of their name, with `host.users.search`, or by an exact id, login name or email address. If `searchable` is false, only the latter finds a user. An IP address also finds who is signed in from there, with the option `directory`.',
    access: 'manage_options',
    schemas: () => ({
      params: z.object({
        q: z
          .string('must be set exactly once')
          .check(z.trim(), z.minLength(2, 'must have 2 characters or more'), z.maxLength(LONGEST, 'is too long')),
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
      const address = isIP(q) !== 0 && limiter.directory ? { address: await peopleAt(q) } : {}
      return { searchable: details.canSearch, people, ...address }
    },
  })
}
