import type { UserId } from '../../ground/user-id.ts'
import type { AuditEvent, AuditQuery, AuditType } from './audit-event.ts'

/** A query that counts the events of a period. */
export interface AuditCountQuery extends Pick<AuditQuery, 'type' | 'users' | 'ip'> {
  /** Only events at this time or later, in milliseconds. */
  readonly from: number
  /** Only events before this time, in milliseconds. */
  readonly to: number
  /** Length of the parts into which the period is divided, in milliseconds. */
  readonly step: number
  /** Maximum number of users to return. */
  readonly limit: number
}

/** How many events a part of a period has. */
export interface AuditPart {
  /** When the part begins, in milliseconds. */
  readonly at: number
  /** Number of all its events. */
  readonly events: number
  /** How many sessions started. */
  readonly started: number
  /** How many sessions ended. */
  readonly ended: number
  /** How many logins were refused. */
  readonly refused: number
}

/** How often a user was at the limit. */
export interface AuditUserCounts {
  /** The user in the recorded form. */
  readonly user: UserId
  /** How many sessions ended because a login needed their slots. */
  readonly displaced: number
  /** How many logins were refused. */
  readonly refused: number
  /** How many logins would have been limited if the limit were enforced. */
  readonly wouldLimit: number
  /** The addresses of all the user's events, in the recorded form. */
  readonly ips: readonly string[]
}

/** The counted events of a period. */
export interface AuditCounts {
  /** The parts of the period that have events, oldest first. */
  readonly parts: readonly AuditPart[]
  /** The users who were at the limit, most often first. If the query names users, those with any address. */
  readonly users: readonly AuditUserCounts[]
  /** Time of the oldest event in the sink, in milliseconds, if known. */
  readonly since?: number | undefined
}

/** The types of events, and the kinds of ended sessions, that show a user at the limit. */
export const AT_LIMIT = {
  types: ['login.refused', 'login.would_limit'],
  kinds: ['displaced', 'never_used', 'idle', 'chosen'],
} as const satisfies {
  readonly types: readonly AuditType[]
  readonly kinds: readonly NonNullable<AuditEvent['kind']>[]
}

const FIELDS: Partial<Record<AuditType, 'started' | 'ended' | 'refused'>> = {
  'session.started': 'started',
  'session.ended': 'ended',
  'login.refused': 'refused',
}

type UserCounts = Omit<AuditUserCounts, 'user' | 'ips'>

type Period = Pick<AuditCountQuery, 'from' | 'step' | 'users'>

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
    this.addToPart(Math.floor((at - this.#period.from) / this.#period.step), type, 1)
    if (user === undefined) return
    if (AT_LIMIT.kinds.some((one) => one === kind)) this.addToUser(user, { displaced: 1 })
    if (type === 'login.refused') this.addToUser(user, { refused: 1 })
    if (type === 'login.would_limit') this.addToUser(user, { wouldLimit: 1 })
    if (ip !== undefined) this.addAddress(user, ip)
  }

  /** Adds events of a type to a part of the period, which is given by its number. */
  addToPart(part: number, type: AuditType, count: number): void {
    const at = this.#period.from + part * this.#period.step
    const counts = this.#parts.get(part) ?? { at, events: 0, started: 0, ended: 0, refused: 0 }
    const field = FIELDS[type]
    counts.events += count
    if (field) counts[field] += count
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
    return [...this.#users.values()]
      .sort((one, other) => sum(other) - sum(one) || (JSON.stringify(one.user) < JSON.stringify(other.user) ? -1 : 1))
      .slice(0, limit)
      .map((counts) => ({ ...counts, ips: [...(this.#ips.get(counts.user) ?? [])] }))
      .filter((counts) => sum(counts) > 0 || counts.ips.length > 0)
  }
}

const sum = ({ displaced, refused, wouldLimit }: Omit<AuditUserCounts, 'ips'>) => displaced + refused + wouldLimit
