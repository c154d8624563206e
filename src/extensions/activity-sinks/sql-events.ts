import { setImmediate as nextTurn } from 'node:timers/promises'
import { AT_LIMIT, EventTally, type Selection } from '../../extend.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { AuditCountQuery, AuditCounts } from '../../index.ts'

/** How many parts are counted at once. Each takes a connection of the pool. */
const AT_ONCE = 2
/** How many events one statement counts, about, so that SQLite does not block the process for long. */
const COUNTED = 25_000

export type SqlValue = string | number | null

/** A database with the events table. Statements use `?` as the placeholder of a value. */
export interface AuditDatabase {
  /** Quoted name of the table. */
  readonly table: string
  /** Returns all rows. */
  all(statement: string, values: readonly SqlValue[]): Promise<readonly unknown[]>
  /** Returns how many rows have changed. */
  run(statement: string, values: readonly SqlValue[]): Promise<number>
  close(): Promise<void>
}

/** Returns the stored form of an id, in which '2' differs from 2. */
export const keyOf = (user: UserId) => JSON.stringify(user)

/** Returns the condition of a selection, and the values of its placeholders. */
export function conditionOf({ type, users, ip, from, to }: Selection) {
  const parts: [condition: string, values: readonly SqlValue[]][] = []
  if (type !== undefined) parts.push(['type = ?', [type]])
  if (users) parts.push([`user_id IN (${users.map(() => '?').join(', ') || 'NULL'})`, users.map(keyOf)])
  if (ip !== undefined) parts.push(['ip = ?', [ip]])
  if (from !== undefined) parts.push(['at >= ?', [from]])
  if (to !== undefined) parts.push(['at < ?', [to]])
  return [['1 = 1', ...parts.map(([part]) => part)].join(' AND '), parts.flatMap(([, values]) => values)] as const
}

/**
 * Counts events; see `count` of a sink.
 *
 * @param since Time of the oldest event, if there is any.
 */
export async function countEvents(
  database: AuditDatabase,
  { step, limit, ...selection }: AuditCountQuery,
  since: number | undefined,
): Promise<AuditCounts> {
  const tally = new EventTally({ ...selection, step })
  const from = Math.max(selection.from, since ?? selection.to)
  // Events cannot be much later than now, whatever the period.
  const to = Math.max(from, Math.min(selection.to, Date.now() + DAY_MS))
  const partAt = (time: number) => (time - selection.from) / step
  for (let part = Math.floor(partAt(from)); part < partAt(to); part += AT_ONCE) {
    await nextTurn()
    const parts = Array.from({ length: AT_ONCE }, (_, index) => part + index)
    await Promise.all(parts.map((one) => addPart(database, tally, one, { ...selection, ...tally.timesOf(one) })))
  }
  const events = tally.parts().reduce((sum, part) => sum + part.events, 0)
  for (const slice of limit === 0 ? [] : slicesOf(from, to, Math.ceil(events / COUNTED))) {
    await nextTurn()
    await addUsers(database, tally, { ...selection, ...slice })
  }
  const users = selection.users ?? tally.users(limit).map(({ user }) => user)
  if (limit > 0 && users.length > 0) await addAddresses(database, tally, { ...selection, users })
  return { parts: tally.parts(), users: tally.users(limit), since }
}

/** Divides a period into slices. Between two of them, the process serves requests. */
function slicesOf(from: number, to: number, count: number) {
  const timeOf = (index: number) => Math.floor(from + ((to - from) * index) / count)
  return Array.from({ length: to > from ? count : 0 }, (_, index) => ({ from: timeOf(index), to: timeOf(index + 1) }))
}

const DAY_MS = 86_400_000

const PART = `SELECT count(*) AS events,
  count(*) FILTER (WHERE type = 'session.started') AS started,
  count(*) FILTER (WHERE type = 'session.ended') AS ended,
  count(*) FILTER (WHERE type = 'login.refused') AS refused`

/** Counts one part, because a statement that groups the events of several must sort them. */
async function addPart({ table, all }: AuditDatabase, tally: EventTally, part: number, selection: Selection) {
  const [condition, values] = conditionOf(selection)
  const rows = await all(`${PART} FROM ${table} WHERE ${condition}`, values)
  for (const { events, started, ended, refused } of rows as readonly CountedPart[]) {
    tally.addToPart(part, {
      events: Number(events),
      started: Number(started),
      ended: Number(ended),
      refused: Number(refused),
    })
  }
}

const inQuotes = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

const USERS = `SELECT user_id,
  count(*) FILTER (WHERE kind IN (${inQuotes(AT_LIMIT.kinds)})) AS displaced,
  count(*) FILTER (WHERE type = 'login.refused') AS refused,
  count(*) FILTER (WHERE type = 'login.would_limit') AS would`
const IS_AT_LIMIT = `(type IN (${inQuotes(AT_LIMIT.types)}) OR kind IN (${inQuotes(AT_LIMIT.kinds)}))`

async function addUsers({ table, all }: AuditDatabase, tally: EventTally, selection: Selection): Promise<void> {
  const [condition, values] = conditionOf(selection)
  const where = `${condition} AND user_id IS NOT NULL AND ${IS_AT_LIMIT}`
  const rows = await all(`${USERS} FROM ${table} WHERE ${where} GROUP BY user_id`, values)
  for (const { user_id, displaced, refused, would } of rows as readonly CountedUser[]) {
    tally.addToUser(JSON.parse(user_id), {
      displaced: Number(displaced),
      refused: Number(refused),
      wouldLimit: Number(would),
    })
  }
}

async function addAddresses({ table, all }: AuditDatabase, tally: EventTally, selection: Selection): Promise<void> {
  const [condition, values] = conditionOf(selection)
  const rows = await all(`SELECT DISTINCT user_id, ip FROM ${table} WHERE ${condition} AND ip IS NOT NULL`, values)
  for (const { user_id, ip } of rows as readonly CountedAddress[]) tally.addAddress(JSON.parse(user_id), ip)
}

/** PostgreSQL returns numbers of 8 bytes as strings. */
type Counted<Names extends string> = Readonly<Record<Names, number | string>>

type CountedPart = Counted<'events' | 'started' | 'ended' | 'refused'>

type CountedUser = Counted<'displaced' | 'refused' | 'would'> & { readonly user_id: string }

interface CountedAddress {
  readonly user_id: string
  readonly ip: string
}
