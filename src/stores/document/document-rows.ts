import { setTimeout as sleep } from 'node:timers/promises'
import { CallDeadline } from '../../ground/call-deadline.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { DocumentDriver, DocumentReply } from './document-driver.ts'

/** How long a deleted row stays, without its content, so that a new row continues its revisions. */
const DELETED_MS = 10 * 60_000
/** Longest pause between two attempts, in milliseconds. */
const MAX_PAUSE_MS = 20
/**
 * Every 100th write purges up to 200 rows. If a purge deleted fewer rows than were written since the last one, the
 * table would grow forever.
 */
const PURGE_EVERY = 100
const PURGE_COUNT = 200
/** The driver contract tests calls with this many keys. */
const MOST_KEYS = 500

/** A row at one moment. */
export interface ReadRow {
  readonly now: number
  /** Undefined if there is no row, not even a deleted one. */
  readonly revision: number | undefined
  /** Undefined if the row is missing or deleted. */
  readonly text: string | undefined
}

/** What to write to a row, if anything, and the result to return afterwards. */
export interface RowChange<Result> {
  readonly result: Result
  /** An undefined `text` deletes the row. An undefined `lifeMs` means that it never expires. */
  readonly write?: { readonly text: string | undefined; readonly lifeMs?: number | undefined } | undefined
}

/** Reads and changes rows through a driver. Each call has a deadline, and fails with `store_unavailable`. */
export class DocumentRows {
  readonly #driver: DocumentDriver
  readonly #deadlineMs: number
  readonly #deadline: CallDeadline
  #asking: { readonly keys: Set<string>; readonly reply: Promise<DocumentReply> } | undefined
  /** Starts at a random number, so that processes that exit after a few writes also purge. */
  #writes = Math.floor(Math.random() * PURGE_EVERY)

  /** @param mostLate How many statements may stay without a response before no further one is sent. */
  constructor(driver: DocumentDriver, deadlineMs: number, mostLate?: number) {
    this.#driver = driver
    this.#deadlineMs = deadlineMs
    this.#deadline = new CallDeadline(deadlineMs, 'sessmgr database', { mostLate })
  }

  /**
   * Reads a row. Up to 500 reads in the same turn of the event loop share one call, which is sent at the end of the
   * turn. The call sees every change that was complete before any of the requests was sent.
   */
  async read(key: string): Promise<ReadRow> {
    if (!this.#asking || this.#asking.keys.size === MOST_KEYS) this.#asking = this.#collect()
    this.#asking.keys.add(key)
    const { now, rows } = await this.#asking.reply
    const row = rows.get(key)
    return { now, revision: row?.revision, text: row?.text || undefined }
  }

  #collect() {
    const keys = new Set<string>()
    const reply = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#asking = undefined
      return this.#deadline.run(() => this.#driver.get([...keys]))
    })
    return { keys, reply }
  }

  /**
   * Changes a row. Retries until the deadline if other writers interfere.
   *
   * @param step Decides what to write, based on the current row. May run several times.
   * @param known The row, if the caller has just read it. This saves a read.
   */
  async change<Result>(key: string, step: (row: ReadRow) => RowChange<Result>, known?: ReadRow): Promise<Result> {
    let row = known
    const end = performance.now() + this.#deadlineMs
    for (let tries = 1; performance.now() < end; tries++) {
      const isFresh = row === undefined
      row ??= await this.read(key)
      const { result, write } = step(row)
      if (write ? await this.#swap(key, row.revision, write) : isFresh) return result
      row = undefined
      if (isFresh) await sleep(Math.random() * Math.min(tries, MAX_PAUSE_MS))
    }
    const problem = `Other writers kept changing the same row in the sessmgr database for ${this.#deadlineMs} ms`
    throw new SessmgrError('store_unavailable', `${problem}. Try again shortly.`)
  }

  async #swap(
    key: string,
    revision: number | undefined,
    { text, lifeMs }: NonNullable<RowChange<unknown>['write']>,
  ): Promise<boolean> {
    this.#writes += 1
    if (this.#writes % PURGE_EVERY === 0) this.purge(PURGE_COUNT).catch(() => {})
    const life = text === undefined ? DELETED_MS : lifeMs
    const whole = life === undefined ? undefined : Math.max(1, Math.round(life))
    return this.#deadline.run(() => this.#driver.swap(key, revision, text ?? '', whole))
  }

  /** Deletes expired rows. */
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
