import { hash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CallDeadline } from '../../ground/call-deadline.ts'
import type { Clock } from '../../ground/clock.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { DocumentDriver, DocumentReply, DocumentRow } from './document-driver.ts'
import { RowTurns, type Turn } from './row-turns.ts'

/** How long a deleted row stays in the table, empty, so that a late first write cannot bring it back. */
const DELETED_MS = 10 * 60_000
/** Longest pause between two attempts, in milliseconds. */
const MAX_PAUSE_MS = 20
/**
 * Every 100th write purges up to 200 rows. If a purge deleted fewer rows than were written since the last purge, the
 * table could grow forever.
 */
const PURGE_EVERY = 100
const PURGE_COUNT = 200
/** How many keys one call may read. The driver contract tests calls with this many keys. */
const MOST_KEYS = 500

/** How many writes a row names, so that each of them is recognized after later ones. */
const MOST_NAMES = 4
/** Hexadecimal digits of a name: 48 bits. */
const NAME_LENGTH = 12

/** The rows that were read. */
export interface RowReply extends DocumentReply {
  /** A time that the database's clock had not reached. Undefined if `now` is exact. */
  readonly latest?: number
}

/** A driver that may estimate the time, and may wait until a write cannot be lost. */
export interface RowDriver extends DocumentDriver {
  /**
   * Whether the driver itself sends calls of one turn together, and no write waits for a lock. Reads are then sent at
   * once, and hanging writes hold nothing back.
   */
  readonly isPipelined?: boolean
  /** Whether `durably` has an effect. */
  readonly isReplicated?: boolean
  /** Replaces the database's clock in tests. */
  readonly clock?: Clock | undefined
  /** @param exactly Whether `now` must be the database's clock, not an estimate. */
  get(keys: readonly string[], exactly?: boolean): Promise<RowReply>
  /**
   * @param durably Whether to write even if memory is short, and to wait until the write survives the loss of the
   * primary.
   * @throws The error of {@link unconfirmedWrite}.
   */
  swap(
    key: string,
    before: string | undefined,
    row: DocumentRow,
    lifeMs: number | undefined,
    durably?: boolean,
  ): Promise<boolean>
}

const unconfirmed = new WeakSet<object>()

/** Returns the error for a write that was made, but could still be lost. */
export function unconfirmedWrite(): SessmgrError {
  const error = new SessmgrError('store_unavailable', 'No Redis replica has confirmed the change. Try again shortly.')
  unconfirmed.add(error)
  return error
}

/** Checks whether a write was made, although it failed with this error. */
export function isUnconfirmed(error: unknown): error is SessmgrError {
  return unconfirmed.has(Object(error))
}

/** A row at one moment. */
export interface ReadRow {
  /** When the reply arrived, by `performance.now()`. */
  readonly at: number
  /** The database's clock when the row was read, or an earlier time. */
  readonly now: number
  /** A time that the database's clock had not reached. Undefined if `now` is exact. */
  readonly latest?: number | undefined
  /** The names of its last writes, newest first. Undefined if there is no row, not even a deleted one. */
  readonly revision: string | undefined
  /** Undefined if the row is missing or deleted. */
  readonly text: string | undefined
}

/** What to write to a row, if anything, and the result to return afterwards. */
export interface RowChange<Result> {
  readonly result: Result
  readonly write?: RowWrite | undefined
}

interface RowWrite {
  /** Undefined deletes the row. */
  readonly text: string | undefined
  /** Undefined means that the row never expires. */
  readonly lifeMs?: number | undefined
  /** Whether to write even if memory is short, and to wait until the write survives the loss of the primary. */
  readonly durably?: boolean | undefined
}

/** How to call the database. */
export interface RowsOptions {
  readonly deadlineMs: number
  /** How errors call the database. */
  readonly what?: string
  /** What the driver adds to the beginning of each key. */
  readonly prefix?: string
  /** Removes confidential parts from the database's errors. */
  readonly tidy?: (cause: unknown) => unknown
  /** How many statements may hang past their deadline before no more are sent. */
  readonly mostLate?: number
}

/**
 * Reads and changes rows through a driver. A call that fails or misses its deadline rejects with `store_unavailable`.
 */
export class DocumentRows {
  readonly #driver: RowDriver
  /** How many milliseconds a call may take. A change makes several calls, the last of which begins within this time. */
  readonly deadlineMs: number
  readonly #what: string
  readonly #prefix: string
  readonly #deadline: CallDeadline
  readonly #turns: RowTurns
  #asking: { readonly keys: Set<string>; readonly reply: Promise<RowReply> } | undefined
  /** The reads that were sent in this turn of the event loop, by key, if the driver is pipelined. */
  readonly #sent = new Map<string, Promise<RowReply>>()
  /** How many reads have no reply yet. */
  #reading = 0
  /** Whether the last read served only one callback. If so, the next read need not wait for others. */
  #isLone = true
  /** Counts writes from a random number, so that even processes that exit after a few writes sometimes purge. */
  #writes = Math.floor(Math.random() * PURGE_EVERY)

  constructor(driver: RowDriver, { deadlineMs, what = 'sessmgr database', prefix = '', tidy, mostLate }: RowsOptions) {
    this.#driver = driver
    this.deadlineMs = deadlineMs
    this.#what = what
    this.#prefix = prefix
    this.#turns = new RowTurns(driver.isPipelined ? Number.POSITIVE_INFINITY : deadlineMs)
    this.#deadline = new CallDeadline(deadlineMs, what, { tidy, mostLate })
  }

  /** Returns how an error names a row. */
  nameOf(key: string): string {
    return `"${this.#prefix}${key}" in the ${this.#what}`
  }

  /** Whether a durable write waits until it survives the loss of the primary. */
  get isReplicated(): boolean {
    return this.#driver.isReplicated === true
  }

  /**
   * Reads a row. Up to 500 reads in the same turn of the event loop share one call. The call is sent at the end of the
   * turn, or sooner while reads are rare. It sees every change that was complete when any of the reads was requested.
   *
   * @param exactly Whether `now` must be the database's clock, not an estimate.
   */
  async read(key: string, exactly = false): Promise<ReadRow> {
    const { now, latest, rows } = await this.#ask(key, exactly)
    const row = rows.get(key)
    return {
      at: performance.now(),
      now: Math.floor(now),
      latest,
      revision: row?.revision,
      text: row?.text || undefined,
    }
  }

  #ask(key: string, exactly: boolean): Promise<RowReply> {
    if (this.#driver.isPipelined) return this.#askAtOnce(key, exactly)
    if (!this.#asking || this.#asking.keys.size === MOST_KEYS) this.#asking = this.#collect()
    this.#asking.keys.add(key)
    return this.#asking.reply
  }

  #askAtOnce(key: string, exactly: boolean): Promise<RowReply> {
    const sent = this.#sent.get(key)
    if (sent && !exactly) return sent
    if (this.#sent.size === 0) setImmediate(() => this.#sent.clear())
    const reply = this.#deadline.run(() => this.#driver.get([key], exactly))
    this.#sent.set(key, reply)
    return reply
  }

  #collect() {
    const keys = new Set<string>()
    const send = () => {
      this.#asking = undefined
      this.#reading += 1
      return this.#deadline
        .run(() => this.#driver.get([...keys], true))
        .finally(() => {
          this.#reading -= 1
        })
    }
    return { keys, reply: this.#untilSent(keys).then(send) }
  }

  /** Waits for all reads of the same callback, or of the whole turn if other callbacks are likely to read as well. */
  async #untilSent(keys: ReadonlySet<string>): Promise<void> {
    const isLone = this.#isLone && this.#reading === 0
    await Promise.resolve()
    await new Promise<void>((resolve) => process.nextTick(resolve))
    if (isLone) return
    const own = keys.size
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#isLone = this.#reading === 0 && keys.size === own
  }

  /**
   * Changes a row, and returns the result of `step`. Retries until the deadline if other writers interfere.
   *
   * Each write has a random name. If the row is read again and names one of this call's writes, that write was made: its
   * reply was lost, or the client sent it twice.
   *
   * @param step Decides what to write, based on the current row. May run several times.
   * @param known The row, if the caller has just read it. This saves a read.
   * @param onWritten Called with the new row, if one was written.
   */
  async change<Result>(
    key: string,
    step: (row: ReadRow) => RowChange<Result>,
    known?: ReadRow,
    onWritten?: (row: ReadRow) => void,
  ): Promise<Result> {
    let row = known
    let turn: Turn | undefined
    let failure: unknown
    const sent = new Map<string, { readonly result: Result; readonly durably: boolean | undefined }>()
    const end = performance.now() + this.deadlineMs
    try {
      for (let tries = 1; performance.now() < end; tries++) {
        const isFresh = row === undefined
        row ??= await this.read(key, true)
        const [found] = sent.size > 0 ? namesIn(row).flatMap((name) => sent.get(name) ?? []) : []
        if (found?.durably && this.#driver.isReplicated) throw unconfirmedWrite()
        if (found) return found.result
        if (failure) throw failure
        const { result, write } = step(row)
        if (!write && isFresh) return result
        if (write) {
          if (!turn) {
            turn = await this.#turns.take(key, end - performance.now())
            if (turn.waited) {
              row = undefined
              continue
            }
          }
          const name = randomName()
          sent.set(name, { result, durably: write.durably })
          try {
            const written = await this.#swap(turn, row, name, write)
            if (written) onWritten?.(written)
            if (written) return result
          } catch (error) {
            // After the deadline, the write may still be made. Otherwise, the row shows whether it was.
            if (isUnconfirmed(error) || turn.writing || performance.now() >= end) throw error
            failure = error
          }
        }
        row = undefined
        if (isFresh && !failure) await sleep(Math.random() * Math.min(tries, MAX_PAUSE_MS))
      }
    } finally {
      if (turn) this.#turns.leave(turn)
    }
    const problem = `Other writers kept changing the same row in the ${this.#what} for ${this.deadlineMs} ms`
    throw new SessmgrError('store_unavailable', `${problem}. Try again shortly.`)
  }

  /** Writes a row, and returns it. Resolves to undefined if another write came first. */
  async #swap(turn: Turn, before: ReadRow, name: string, write: RowWrite): Promise<ReadRow | undefined> {
    const { text = '', lifeMs, durably } = write
    this.#writes += 1
    if (this.#writes % PURGE_EVERY === 0) this.purge(PURGE_COUNT).catch(() => {})
    const life = text === '' ? DELETED_MS : lifeMs
    const revision = [name, ...namesIn(before)].slice(0, MOST_NAMES).join('.')
    const whole = life === undefined ? undefined : Math.max(1, Math.round(life))
    const send = () => {
      // Call `then` only once, because a query builder sends its statement each time.
      const writing = Promise.resolve(this.#driver.swap(turn.key, before.revision, { revision, text }, whole, durably))
      this.#turns.send(turn, writing)
      return writing
    }
    try {
      const isWritten = await this.#deadline.run(send, !this.#driver.isPipelined)
      return isWritten ? { ...before, revision, text: text || undefined } : undefined
    } finally {
      // A read that was sent before this write was made must not serve a caller that knows about the write.
      this.#sent.delete(turn.key)
    }
  }

  /** Schedules a purge for when a row expires, in case no later write triggers one. */
  purgeAfter(lifeMs: number): void {
    const purgeAll = async () => {
      while ((await this.purge(PURGE_COUNT)) === PURGE_COUNT);
    }
    setTimeout(() => void purgeAll().catch(() => {}), lifeMs + 1000).unref()
  }

  /** Deletes up to `count` expired rows, and returns how many it deleted. */
  purge(count: number): Promise<number> {
    return this.#deadline.run(() => this.#driver.purge(count))
  }

  /** Deletes everything, however long that takes. */
  async wipe(): Promise<void> {
    // No request waits for this, so it has no deadline. A short call first checks that the database is responding.
    await this.purge(1)
    await this.#driver.wipe()
  }
}

function namesIn({ revision }: ReadRow): readonly string[] {
  return revision?.split('.') ?? []
}

/** Returns a name for a write. Random, because after a failover that loses writes, counted names would recur. */
function randomName(): string {
  return randomUUID().replace('-', '').slice(0, NAME_LENGTH)
}

const LEAST_ROUNDED_MS = 60 * 60_000

/**
 * Returns the interval to which a row's expiry may be rounded up, so that its index entry seldom changes. Only users'
 * rows may live longer, because they contain the expiry of each session.
 */
export function expiryStep(key: string, lifeMs = 0): number {
  return key.startsWith('u:') && lifeMs >= LEAST_ROUNDED_MS ? 2 ** Math.floor(Math.log2(lifeMs / 16)) : 1
}

/** Maximum length of a name in a key. A MySQL index allows keys of up to 3,072 bytes; some databases allow fewer. */
const LONGEST = 200
/** Matches names that need no encoding. */
const PLAIN = /^[\w.:-]{0,100}$/

/** Builds the key of a row in plain ASCII, so that no database treats different keys as equal. */
export function rowKey(
  kind: 'user' | 'passwords' | 'option' | 'transient' | 'generation' | 'index',
  name: string,
): string {
  if (PLAIN.test(name)) return `${kind[0]}:${name}`
  // Half of a surrogate pair cannot be encoded.
  const spelled = /\p{Surrogate}/u.test(name) ? undefined : encodeURIComponent(name)
  if (spelled !== undefined && spelled.length <= LONGEST) return `${kind[0]}:${spelled}`
  return `${kind[0]}:#${hash('sha256', JSON.stringify(name))}`
}
