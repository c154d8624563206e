import { BoundedMap } from '../../../ground/bounded-map.ts'
import { type Declared, must, requireMethods, resolveDeclared, whole } from '../../../ground/option-checks.ts'
import { type RedisScript, redisScript, runScript, withoutArguments } from '../../../stores/redis/redis-calls.ts'
import type { RedisClient } from '../../../stores/redis/redis-client.ts'
import { type AuditEvent, type AuditQuery, type AuditSink, checkCursor, isOf, pageOf } from '../audit-event.ts'
import appendLua from './lua/append-events.lua'
import deleteLua from './lua/delete-events.lua'
import readLua from './lua/read-events.lua'

/** Options of redisStreamSink(). */
export interface RedisStreamSinkOptions {
  /** Key of the stream. @default 'sessmgr:audit' */
  readonly key?: string | undefined
  /** How many events to keep, approximately, from 1,000 to 100,000,000. @default 100000 */
  readonly maxLength?: number | undefined
}

const OPTIONS = {
  key: [must('be a non-empty string', (key) => typeof key === 'string' && key !== ''), 'sessmgr:audit'],
  maxLength: [whole(1000, 100_000_000), 100_000],
} as const satisfies Declared<RedisStreamSinkOptions>

/** How many entries one script reads or deletes, because a Lua call takes at most about 8,000 arguments. */
const BATCH = 1000
/** How many events one script appends. */
const APPENDED = 500
/** How many entries to search for events that an earlier call may have written. */
const SEARCHED = 5000
/** How many sent events to remember, because they may be sent again. */
const MOST_TRIED = 10_000
/** Maximum number of entries to read for a page. */
const MOST_READ = 10_000
/** How much older than its event an entry may seem, because clocks differ. */
const SKEW_MS = 3_600_000

const append = redisScript(appendLua)
const remove = redisScript(deleteLua)
const readEntries = redisScript(readLua)

interface Entry {
  readonly id: string
  readonly event: AuditEvent
}

/**
 * Creates a sink that keeps events in a Redis or Valkey stream, shared by all processes.
 *
 * @param client A client as for `redisStore()`. sessmgr does not close it.
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * sessmgr({ store, audit: { sink: redisStreamSink(client) } })
 */
export function redisStreamSink(
  client: RedisClient,
  options: RedisStreamSinkOptions = {},
): AuditSink & Required<Pick<AuditSink, 'forget'>> {
  requireMethods('client', client, ['evalSha', 'eval'], '. Pass a client as for redisStore()')
  const { key, maxLength } = resolveDeclared(OPTIONS, options, { caller: 'redisStreamSink' })
  /** Ids of the last events sent. A call that timed out may still take effect, although its events are sent again. */
  const tried = new BoundedMap<string, true>(MOST_TRIED)

  async function run(script: RedisScript, args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await runScript(client, script, key, args)
    } catch (error) {
      throw withoutArguments(error)
    }
  }

  async function readPart(newest: string, oldest: string) {
    const [first, ...rest] = ((await run(readEntries, [newest, oldest, BATCH])) as unknown[]).map(String)
    const entries: Entry[] = []
    for (let index = 0; index < rest.length; index += 2) {
      entries.push({ id: rest[index] as string, event: JSON.parse(rest[index + 1] as string) })
    }
    return { entries, since: first ? (JSON.parse(first) as AuditEvent).at : undefined }
  }

  /** Reads entries in batches, newest first. */
  async function* batches(newest: string, oldest: string) {
    for (let from: string | undefined = newest; from !== undefined; ) {
      const { entries, since } = await readPart(from, oldest)
      const last = entries.at(-1)
      from = last && entries.length === BATCH ? idBefore(last.id) : undefined
      yield { entries, since, next: from }
    }
  }

  async function read(query: AuditQuery) {
    const { cursor = '+', from } = query
    checkCursor(query.cursor, /^\d{1,15}(-\d{1,19})?$/)
    let since: number | undefined
    async function* found() {
      for await (const batch of batches(cursor, from === undefined ? '-' : String(Math.max(0, from - SKEW_MS)))) {
        since = batch.since
        const last = batch.entries.at(-1)
        for (const entry of batch.entries) {
          yield { event: entry.event, next: entry === last ? batch.next : idBefore(entry.id) }
        }
      }
    }
    return { ...(await pageOf(found(), query, MOST_READ)), since }
  }

  return {
    async write(events) {
      for (let start = 0; start < events.length; start += APPENDED) {
        const batch = events.slice(start, start + APPENDED)
        const searched = batch.some(({ id }) => tried.has(id)) ? SEARCHED + events.length : 0
        for (const { id } of batch) tried.set(id, true)
        await run(append, [maxLength, searched, ...batch.flatMap((event) => [event.id, JSON.stringify(event)])])
      }
    },
    read,
    async prune(before) {
      // An event happens before its entry is added, so all events of these entries are old enough.
      while (Number(await run(remove, ['before', Math.max(0, before - 1), BATCH])) === BATCH);
    },
    async forget(user, before) {
      let count = 0
      for await (const { entries } of batches('+', '-')) {
        const own = entries.filter(({ event }) => isOf(event, user, before)).map(({ id }) => id)
        if (own.length > 0) count += Number(await run(remove, ['these', ...own]))
      }
      return count
    },
  }
}

/** Returns the largest id before another one, because Redis 5 has no exclusive ranges. */
function idBefore(id: string): string {
  const [time = '0', sequence = '0'] = id.split('-')
  return BigInt(sequence) > 0n ? `${time}-${BigInt(sequence) - 1n}` : String(BigInt(time) - 1n)
}
