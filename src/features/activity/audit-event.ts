import type { UserId } from '../../ground/user-id.ts'
import type { SessionEnd } from '../../sessions/session-end.ts'
import type { Token } from '../../sessions/session-record.ts'

/** What an event reports. Minor releases may add types. */
export type AuditType =
  | 'session.started'
  | 'session.ended'
  | 'login.refused'
  | 'login.asked'
  | 'login.would_limit'
  | 'logout.all'
  | 'settings.changed'
  | 'application_password.created'
  | 'application_password.revoked'
  | 'user.erased'

/** All types of events. */
export const AUDIT_TYPES = [
  'session.started',
  'session.ended',
  'login.refused',
  'login.asked',
  'login.would_limit',
  'logout.all',
  'settings.changed',
  'application_password.created',
  'application_password.revoked',
  'user.erased',
] as const satisfies readonly AuditType[]

/** An event of the activity log. Contains no secrets. */
export interface AuditEvent {
  /** A UUIDv7, so that ids sort by time. */
  readonly id: string
  /** When it happened, in milliseconds since the Unix epoch. For `session.started`, by the store's clock. */
  readonly at: number
  /** What happened. */
  readonly type: AuditType
  /** Id of the user that the event is about, or what the `identify` option returned for this id. */
  readonly user?: UserId
  /** Token of the session that started or ended. */
  readonly session?: Token
  /** The cause: the user, an administrator, the session limit, or the application. */
  readonly initiator: 'user' | 'admin' | 'policy' | 'system'
  /** The user who caused the event, if known, in the same form as `user`. */
  readonly actor?: UserId
  /** Why a session ended. */
  readonly kind?: SessionEnd['kind']
  /** Device of the session or of the refused login, such as "Chrome on Windows". */
  readonly device?: string
  /** IP address of the client at login, in the form that the `ip` option sets. */
  readonly ip?: string
  /** Further details. The keys depend on the type. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** A query for events. */
export interface AuditQuery {
  /** Only events of this type. */
  readonly type?: AuditType | undefined
  /** Only events about one of these users. */
  readonly users?: readonly UserId[] | undefined
  /** Only events from this address, in its recorded form. A sink may ignore it: the result is filtered again. */
  readonly ip?: string | undefined
  /** Only events at this time or later, in milliseconds. */
  readonly from?: number | undefined
  /** Only events before this time, in milliseconds. */
  readonly to?: number | undefined
  /** Maximum number of events to return. */
  readonly limit: number
  /** The `next` value of the previous page. */
  readonly cursor?: string | undefined
}

/** A page of events, newest first. */
export interface AuditPage {
  /** The events. A page may have fewer than the limit, or none, although more follow. */
  readonly events: readonly AuditEvent[]
  /** Cursor of the next page. Undefined on the last page. */
  readonly next?: string | undefined
  /** Time of the oldest event in the sink, in milliseconds, if known. */
  readonly since?: number | undefined
}

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

/** Storage for the events of the activity log. */
export interface AuditSink {
  /** Whether a restart of the process loses the events. @default false */
  readonly local?: boolean
  /** Appends events. After a failure, the same events may be written again, with the same ids. */
  write(events: readonly AuditEvent[]): Promise<void>
  /** Reads events, newest first. Without it, the admin screen shows only the last events of its own process. */
  read?(query: AuditQuery): Promise<AuditPage>
  /** Counts the events of a period. Without it, the latest 10,000 events are read and counted. */
  count?(query: AuditCountQuery): Promise<AuditCounts>
  /** Deletes all events before a time, in milliseconds. Called at startup and every hour. */
  prune?(before: number): Promise<void>
  /**
   * Deletes all events about or by a user, and returns how many there were. Called by `limiter.eraseUser()`.
   *
   * @param user The user in the recorded form.
   * @param before If given, only events before this time, in milliseconds.
   */
  forget?(user: UserId, before?: number): Promise<number>
  /** Releases the sink's resources. Called by `limiter.close()`. */
  close?(): Promise<void>
}

/** A query without its page. */
export type Selection = Omit<AuditQuery, 'limit' | 'cursor'>

/** Checks whether an event matches a selection. */
function matchesQuery({ type, user, at, ip }: AuditEvent, selection: Selection): boolean {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = selection
  if (selection.type !== undefined && type !== selection.type) return false
  if (selection.ip !== undefined && ip !== selection.ip) return false
  if (selection.users && (user === undefined || !selection.users.includes(user))) return false
  return at >= from && at < to
}

/** Checks whether an event is about or by a user, and happened before a time. */
export function isOf({ user, actor, at }: AuditEvent, whom: UserId, before = Number.POSITIVE_INFINITY): boolean {
  return (user === whom || actor === whom) && at < before
}

/** An entry of a sink. `event` is undefined if it cannot be read. */
interface FoundEvent {
  readonly event: AuditEvent | undefined
  /** Cursor of the entries after this one. Undefined for the last entry. */
  readonly next: string | undefined
}

/**
 * Returns a page of the events that match a query.
 *
 * @param found The sink's entries, newest first.
 * @param most How many entries to look at, whether or not they match.
 */
export async function pageOf(
  found: Iterable<FoundEvent> | AsyncIterable<FoundEvent>,
  { limit, ...selection }: AuditQuery,
  most = Number.POSITIVE_INFINITY,
): Promise<{ readonly events: readonly AuditEvent[]; readonly next?: string }> {
  const events: AuditEvent[] = []
  let seen = 0
  for await (const { event, next } of found) {
    if (event && matchesQuery(event, selection)) events.push(event)
    seen += 1
    if (next !== undefined && (events.length === limit || seen === most)) return { events, next }
  }
  return { events }
}

const NAME = 'InvalidCursor'

/** Refuses a cursor that the sink cannot have returned. */
export function checkCursor(cursor: string | undefined, pattern: RegExp): void {
  if (cursor === undefined || pattern.test(cursor)) return
  throw Object.assign(new Error('"cursor" must be the `next` of a page'), { name: NAME })
}

/** Checks whether an error, or its cause, is from {@link checkCursor}. */
export function isInvalidCursor(error: unknown): boolean {
  const { name, cause } = (error ?? {}) as { name?: unknown; cause?: { name?: unknown } | undefined }
  return name === NAME || cause?.name === NAME
}
