import { hash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CallDeadline } from '../../ground/call-deadline.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { type RowDriver, RowReads } from './row-reads.ts'
import { type BatchPlan, RowBatch, type RowChange, RowTurns, type RowWrite, type Turn } from './row-turns.ts'

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

/** How many writes a row names, so that each of them is recognized after later ones. */
const MOST_NAMES = 4
/** Random bytes of a name. */
const NAME_BYTES = 6

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
  readonly #reads: RowReads
  readonly #turns: RowTurns
  /** The changes that wait for a turn, by row. */
  readonly #waiting = new Map<string, RowBatch<ReadRow>>()
  /** Counts writes from a random number, so that even processes that exit after a few writes sometimes purge. */
  #writes = Math.floor(Math.random() * PURGE_EVERY)

  constructor(driver: RowDriver, { deadlineMs, what = 'sessmgr database', prefix = '', tidy, mostLate }: RowsOptions) {
    this.#driver = driver
    this.deadlineMs = deadlineMs
    this.#what = what
    this.#prefix = prefix
    this.#turns = new RowTurns(driver.isPipelined ? Number.POSITIVE_INFINITY : deadlineMs)
    this.#deadline = new CallDeadline(deadlineMs, what, { tidy, mostLate })
    this.#reads = new RowReads(driver, this.#deadline)
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
    const { now, latest, rows } = await this.#reads.read(key, exactly)
    const row = rows.get(key)
    return {
      at: performance.now(),
      now: Math.floor(now),
      latest,
      revision: row?.revision,
      text: row?.text || undefined,
    }
  }

  /**
   * Changes a row, and returns the result of `step`. Retries until the deadline if other writers interfere. Changes of
   * one row that have to wait are written together, in the order in which they were requested.
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
    const end = performance.now() + this.deadlineMs
    let row = known ?? (await this.read(key, true))
    let change = step(row)
    if (!change.write && known) {
      row = await this.read(key, true)
      change = step(row)
    }
    if (!change.write) return change.result
    return new Promise((resolve, reject) => {
      const planned = { row, change }
      const request = { step, planned, resolve: resolve as (result: unknown) => void, reject, onWritten }
      const waiting = this.#waiting.get(key)
      if (waiting) return waiting.add(request)
      const batch = new RowBatch<ReadRow>(request)
      this.#waiting.set(key, batch)
      this.#write(key, batch, row, end).catch((error) => batch.fail(error))
    })
  }

  /**
   * Writes a batch of changes once it is its turn.
   *
   * Each write has a random name. If the row is read again and names one of this call's writes, that write was made: its
   * reply was lost, or the client sent it twice.
   *
   * @param known The row, unless others have written it while the batch waited.
   * @param end When the last attempt begins, by `performance.now()`.
   */
  async #write(key: string, batch: RowBatch<ReadRow>, known: ReadRow, end: number): Promise<void> {
    const unconfirmed = this.#driver.isReplicated ? unconfirmedWrite : undefined
    const sent = new Map<string, BatchPlan>()
    let failure: unknown
    let turn: Turn | undefined
    try {
      turn = await this.#turns.take(key, end - performance.now())
      // From now on, further changes wait for the next batch.
      this.#waiting.delete(key)
      let row = turn.waited ? undefined : known
      for (let tries = 1; performance.now() < end; tries++) {
        const isFresh = row === undefined
        row ??= await this.read(key, true)
        const [made] = namesIn(row).flatMap((name) => sent.get(name) ?? [])
        if (made) return batch.settle(made, undefined, unconfirmed)
        if (failure) throw failure
        const name = randomName()
        const revision = [name, ...namesIn(row)].slice(0, MOST_NAMES).join('.')
        const plan = batch.plan(row, revision)
        if (!plan.write && isFresh) return batch.settle(plan)
        if (plan.write) {
          sent.set(name, plan)
          try {
            const isWritten = await this.#swap(turn, row, revision, plan.write)
            if (isWritten) return batch.settle(plan, { ...row, revision, text: plan.write.text || undefined })
          } catch (error) {
            if (isUnconfirmed(error)) return batch.settle(plan, undefined, unconfirmedWrite)
            // After the deadline, the write may still be made. Otherwise, the row shows whether it was.
            if (turn.writing || performance.now() >= end) throw error
            failure = error
          }
        }
        row = undefined
        if (isFresh && !failure) await sleep(Math.random() * Math.min(tries, MAX_PAUSE_MS))
      }
    } finally {
      if (turn) this.#turns.leave(turn)
      else this.#waiting.delete(key)
    }
    const problem = `Other writers kept changing the same row in the ${this.#what} for ${this.deadlineMs} ms`
    throw new SessmgrError('store_unavailable', `${problem}. Try again shortly.`)
  }

  /** Writes a row. Resolves to false if another write came first. */
  async #swap(turn: Turn, before: ReadRow, revision: string, write: RowWrite): Promise<boolean> {
    const { text = '', lifeMs, durably } = write
    this.#writes += 1
    if (this.#writes % PURGE_EVERY === 0) this.purge(PURGE_COUNT).catch(() => {})
    const life = text === '' ? DELETED_MS : lifeMs
    const whole = life === undefined ? undefined : Math.max(1, Math.round(life))
    const send = () => {
      // Call `then` only once, because a query builder sends its statement each time.
      const writing = Promise.resolve(this.#driver.swap(turn.key, before.revision, { revision, text }, whole, durably))
      this.#turns.send(turn, writing)
      return writing
    }
    try {
      return await this.#deadline.run(send, !this.#driver.isPipelined)
    } finally {
      // A read that was sent before this write was made must not serve a caller that knows about the write.
      this.#reads.forget(turn.key)
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
  const digits = randomUUID()
    .replace('-', '')
    .slice(0, 2 * NAME_BYTES)
  return Buffer.from(digits, 'hex').toString('base64url')
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
