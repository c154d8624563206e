import { isIP } from 'node:net'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { withDeadline } from '../../ground/deadline.ts'
import { messageOf } from '../../ground/errors.ts'
import { type Logger, logFailureOnce } from '../../ground/logger.ts'
import { inWords } from '../../ground/option-checks.ts'
import { isUserId } from '../../ground/user-id.ts'
import type { Host, UserSummary } from '../../host/host.ts'
import { prefixOf } from '../../sessions/ip-network.ts'
import { isAddress } from '../page-addresses.ts'

const PLACE_KEPT_MS = 600_000
const FAILURE_KEPT_MS = 60_000
const MOST_PLACES = 2000
const LONGEST_PLACE = 100

/** A user as administrators see them. */
interface Person extends UserSummary {
  /** URL of the user's page in the application. */
  readonly url?: string
}

/** Optional details from the application for the admin screen. A detail that fails or takes too long is left out. */
export interface HostDetails {
  /** Whether the application can search for users. */
  readonly canSearch: boolean
  /** Searches for users by part of their name. Resolves to undefined if the application cannot search, or fails. */
  search(text: string, limit: number): Promise<readonly unknown[] | undefined>
  /** Returns the user that `find` returns. Resolves to undefined if there is none, or if `find` fails. */
  userBy(find: () => unknown): Promise<unknown>
  /** Returns the fields of a user, with the URL of their page if there is one. */
  personOf(user: unknown): Promise<Person>
  /** Returns the place of each address, in order, or null if it is unknown. */
  placesOf(ips: readonly (string | null)[]): Promise<readonly (string | null)[]>
}

interface KeptPlace {
  /** Undefined if the application failed. */
  readonly place: Promise<string | null | undefined>
  until: number
}

/**
 * Creates the functions that read the optional details; see {@link HostDetails}.
 *
 * @param deadlineMs How long the application may take to answer.
 */
export function createHostDetails(host: Host, logger: Logger, deadlineMs: number): HostDetails {
  const { users } = host
  const places = new BoundedMap<string, KeptPlace>(MOST_PLACES)

  /** Asks the application. Resolves to undefined if there is no usable answer. */
  async function ask<T>(question: string, call: () => unknown, read: (answer: unknown) => T): Promise<T | undefined> {
    try {
      const late = () => new Error(`no answer within ${deadlineMs} ms`)
      return read(await withDeadline(Promise.resolve().then(call), deadlineMs, late))
    } catch (error) {
      const message = `${question}() failed, so the admin screen does without it. This is logged only once.`
      logFailureOnce(logger, message, { error: messageOf(error) })
      return undefined
    }
  }

  function placeOf(ip: string): Promise<string | null | undefined> {
    const last = places.get(ip)
    if (last && last.until > Date.now()) return last.place
    const kept = {
      place: ask('host.location', () => host.location?.(ip), placeIn),
      until: Date.now() + PLACE_KEPT_MS,
    }
    places.set(ip, kept)
    void kept.place.then((place) => {
      if (place === undefined) kept.until = Date.now() + FAILURE_KEPT_MS
    })
    return kept.place
  }

  /** Returns only the fields that are shown, because the application may return more. */
  async function personOf(user: unknown): Promise<Person> {
    const { id, login, display_name, email } = users.summary(user)
    const url = users.url && (await ask('host.users.url', () => users.url?.(user), addressIn))
    return { id, login, display_name, ...(email && { email }), ...(url && { url }) }
  }

  return {
    canSearch: users.search !== undefined,
    async search(text, limit) {
      if (!users.search) return undefined
      const read = (found: unknown) => usersIn(found).filter((user) => isUserId(users.summary(user).id))
      return (await ask('host.users.search', () => users.search?.(text, limit), read))?.slice(0, limit)
    },
    userBy: async (find) => (await ask('host.users.findById', find, (user) => user)) ?? undefined,
    personOf,
    placesOf: (ips) =>
      Promise.all(ips.map(async (ip) => (ip === null || !host.location ? null : ((await placeOf(ip)) ?? null)))),
  }
}

/**
 * Returns what tells the places of addresses apart. If a place is unknown, this is the address, or its /64 for IPv6,
 * where a device often changes its address.
 */
export async function whereabouts(
  { placesOf }: Pick<HostDetails, 'placesOf'>,
  ips: readonly (string | null)[],
): Promise<readonly (string | null)[]> {
  const places = await placesOf(ips)
  return ips.map((ip, index) => places[index] ?? (ip && placeOfUnknown(ip)))
}

/** Counts the distinct places of addresses. */
export async function countPlaces(
  details: Pick<HostDetails, 'placesOf'>,
  ips: readonly (string | null)[],
): Promise<number> {
  const places = new Set(await whereabouts(details, [...new Set(ips)]))
  places.delete(null)
  return places.size
}

function placeOfUnknown(ip: string): string {
  const [bare = ''] = ip.split('%', 1)
  return isIP(bare) === 6 ? prefixOf(bare, 4) : ip
}

function placeIn(answer: unknown): string | null {
  if (answer === undefined || answer === null) return null
  if (typeof answer === 'string') return answer.trim().slice(0, LONGEST_PLACE) || null
  throw new TypeError(`expected a string such as "Berlin, DE", got ${inWords(answer)}`)
}

function addressIn(answer: unknown): string | undefined {
  if (answer === undefined || answer === null) return undefined
  if (isAddress(answer)) return answer
  throw new TypeError(`expected a path or an http or https URL, got ${inWords(answer)}`)
}

function usersIn(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer
  throw new TypeError(`expected an array of users, got ${inWords(answer)}`)
}
