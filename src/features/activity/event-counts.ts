import type { UserId } from '../../ground/user-id.ts'
import type {
  AuditCountQuery,
  AuditCounts,
  AuditEvent,
  AuditPage,
  AuditPart,
  AuditQuery,
  AuditType,
  AuditUserCounts,
} from './audit-event.ts'

/** The types of events, and the kinds of ended sessions, that show a user at the limit. */
export const AT_LIMIT = {
  types: ['login.refused', 'login.would_limit'],
  kinds: ['displaced', 'never_used', 'idle', 'chosen'],
} as const satisfies {
  readonly types: readonly AuditType[]
  readonly kinds: readonly NonNullable<AuditEvent['kind']>[]
}

type UserCounts = Omit<AuditUserCounts, 'user' | 'ips'>

type PartCounts = Omit<AuditPart, 'at'>

type Period = Pick<AuditCountQuery, 'from' | 'to' | 'step' | 'users'>

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Adds up events, one by one or in groups. */
export class EventTally {
  readonly #period: Period
  readonly #parts = new Map<number, Mutable<AuditPart>>()
  readonly #users = new Map<UserId, Mutable<Omit<AuditUserCounts, 'ips'>>>()
  readonly #ips = new Map<UserId, Set<string>>()

  constructor(period: Period) {
    this.#period = period
    for (const user of period.users ?? []) this.addToUser(user, {})
  }

  /** Adds an event. */
  add({ at, type, kind, user, ip }: AuditEvent): void {
    this.addToPart(Math.floor((at - this.#period.from) / this.#period.step), {
      events: 1,
      started: Number(type === 'session.started'),
      ended: Number(type === 'session.ended'),
      refused: Number(type === 'login.refused'),
    })
    if (user === undefined) return
    if (AT_LIMIT.kinds.some((one) => one === kind)) this.addToUser(user, { displaced: 1 })
    if (type === 'login.refused') this.addToUser(user, { refused: 1 })
    if (type === 'login.would_limit') this.addToUser(user, { wouldLimit: 1 })
    if (ip !== undefined) this.addAddress(user, ip)
  }

  /** Returns when a part of the period, which is given by its number, begins and ends. */
  timesOf(part: number): { readonly from: number; readonly to: number } {
    const { from, to, step } = this.#period
    return { from: from + part * step, to: Math.min(from + (part + 1) * step, to) }
  }

  /** Adds to the counts of a part. */
  addToPart(part: number, { events, started, ended, refused }: PartCounts): void {
    if (events === 0) return
    const at = this.timesOf(part).from
    const counts = this.#parts.get(part) ?? { at, events: 0, started: 0, ended: 0, refused: 0 }
    counts.events += events
    counts.started += started
    counts.ended += ended
    counts.refused += refused
    this.#parts.set(part, counts)
  }

  /** Adds to the counts of a user. */
  addToUser(user: UserId, { displaced = 0, refused = 0, wouldLimit = 0 }: Partial<UserCounts>): void {
    const counts = this.#users.get(user) ?? { user, displaced: 0, refused: 0, wouldLimit: 0 }
    counts.displaced += displaced
    counts.refused += refused
    counts.wouldLimit += wouldLimit
    this.#users.set(user, counts)
  }

  /** Adds an address of a user. */
  addAddress(user: UserId, ip: string): void {
    const ips = this.#ips.get(user) ?? new Set()
    this.#ips.set(user, ips.add(ip))
  }

  /** Returns the parts of the period that have events, oldest first. */
  parts(): readonly AuditPart[] {
    return [...this.#parts.values()].sort((one, other) => one.at - other.at)
  }

  /** Returns the users who were at the limit most often. Those that the query names are listed even if they never were. */
  users(limit: number): readonly AuditUserCounts[] {
    return Array.from(this.#users.values(), (counts) => ({
      counts,
      total: counts.displaced + counts.refused + counts.wouldLimit,
      name: JSON.stringify(counts.user),
    }))
      .sort((one, other) => other.total - one.total || (one.name < other.name ? -1 : 1))
      .slice(0, limit)
      .filter(({ counts, total }) => total > 0 || this.#ips.has(counts.user))
      .map(({ counts }) => ({ ...counts, ips: [...(this.#ips.get(counts.user) ?? [])] }))
  }
}

/** How many events are read, to count those of a sink that cannot. */
const READ = { pages: 20, limit: 500 }

/** The counted events, and the time before which none are counted. */
export interface KnownCounts extends AuditCounts {
  readonly since: number
  /** False if the sink has earlier events of the period. */
  readonly isWhole: boolean
}

/** Counts the latest events of a period by reading them. */
export async function countByReading(
  read: (query: AuditQuery) => Promise<AuditPage & { readonly since: number }>,
  { step, limit, ...selection }: AuditCountQuery,
): Promise<KnownCounts> {
  const tally = new EventTally({ ...selection, step })
  let since = selection.to
  let cursor: string | undefined
  let isWhole = false
  for (let page = 0; page < READ.pages && !isWhole; page++) {
    const { events, next, since: oldest } = await read({ ...selection, limit: READ.limit, cursor })
    for (const event of events) tally.add(event)
    cursor = next
    isWhole = cursor === undefined
    since = isWhole ? oldest : (events.at(-1)?.at ?? since)
  }
  return { parts: tally.parts(), users: tally.users(limit), since, isWhole }
}
