import { setTimeout as sleep } from 'node:timers/promises'
import { CallDeadline } from '../../ground/call-deadline.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { DocumentDriver, DocumentReply } from './document-driver.ts'

/** How long a deleted row is kept, without a text, so that its revision continues. */
const DELETED_MS = 10 * 60_000
/** Attempts before a change gives up because of concurrent writes. */
const MAX_ATTEMPTS = 100
/** Longest pause between attempts, in milliseconds. */
const MAX_PAUSE_MS = 20
/** Purges once in this many writes. Must delete more rows than were written, or expired rows would accumulate. */
const PURGE_EVERY = 100
const PURGE_COUNT = 200
/** Keys in one call: as many as the contract of drivers proves. */
const MOST_KEYS = 500

/** A row at one moment. */
export interface ReadRow {
  readonly now: number
  /** Undefined if there is no row, not even a deleted one. */
  readonly revision: number | undefined
  /** Undefined if there is none. */
  readonly text: string | undefined
}

/** What to write to a row, if anything, and the result after writing. */
export interface RowChange<Result> {
  readonly result: Result
  /** An undefined `text` deletes the row; an undefined `lifeMs` keeps it permanently. */
  readonly write?: { readonly text: string | undefined; readonly lifeMs?: number | undefined } | undefined
}

/** Reads and changes rows of a driver, with a deadline for each call. All methods reject with `store_unavailable`. */
export class DocumentRows {
  readonly #driver: DocumentDriver
  readonly #deadline: CallDeadline
  #asking: { readonly keys: Set<string>; readonly reply: Promise<DocumentReply> } | undefined
  /** Begins anywhere, so that processes that end after a few writes purge too. */
  #writes = Math.floor(Math.random() * PURGE_EVERY)

  constructor(driver: DocumentDriver, deadlineMs: number) {
    this.#driver = driver
    this.#deadline = new CallDeadline(deadlineMs, 'database of sessmgr')
  }

  /**
   * Reads a row, in one call with up to 500 requested in this turn of the event loop. The call is sent at the end of
   * the turn, so it sees every change that completed before one of the requests was sent.
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
   * Changes a row, and retries while other writers interfere.
   *
   * @param step Decides what to write, given the current row. May run several times.
   * @param known The row as just read, to save a read.
   */
  async change<Result>(key: string, step: (row: ReadRow) => RowChange<Result>, known?: ReadRow): Promise<Result> {
    let row = known
    for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
      const isFresh = row === undefined
      row ??= await this.read(key)
      const { result, write } = step(row)
      if (write ? await this.#swap(key, row.revision, write) : isFresh) return result
      row = undefined
      if (isFresh) await sleep(Math.random() * Math.min(tries, MAX_PAUSE_MS))
    }
    const problem = `A row in the database of sessmgr changed ${MAX_ATTEMPTS} times while it was written`
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
    // The deadline is for calls that requests wait for. A short call first checks that the database responds.
    await this.purge(1)
    await this.#driver.wipe()
  }
}
