import { setTimeout as sleep } from 'node:timers/promises'
import { CallDeadline } from '../../ground/call-deadline.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { DocumentDriver, DocumentReply } from './document-driver.ts'

/** How long a deleted row is kept, without a text, so that its revision goes on from there. */
const DELETED_MS = 10 * 60_000
/** Writes that may lose to another writer of the same row before a change gives up. */
const MAX_ATTEMPTS = 100
/** Longest pause between two of them, in milliseconds. */
const MAX_PAUSE_MS = 20
/** One of so many writes purges. It may delete more rows than were written meanwhile, or expired rows would pile up. */
const PURGE_EVERY = 100
const PURGE_COUNT = 200

/** A row at one moment. */
export interface ReadRow {
  readonly now: number
  /** Undefined when there is no row, not even a deleted one. */
  readonly revision: number | undefined
  /** Undefined when there is none. */
  readonly text: string | undefined
}

/** What to write to a row, if anything, and what to return once it is written. */
export interface RowChange<Result> {
  readonly result: Result
  /** `text` undefined deletes the row; `lifeMs` undefined keeps it for good. */
  readonly write?: { readonly text: string | undefined; readonly lifeMs?: number | undefined } | undefined
}

/** Reads and changes the rows of a driver, with a deadline for each call. All reject with `store_unavailable`. */
export class DocumentRows {
  readonly #driver: DocumentDriver
  readonly #deadline: CallDeadline
  #asking: { readonly keys: Set<string>; readonly reply: Promise<DocumentReply> } | undefined
  #writes = 0

  constructor(driver: DocumentDriver, deadlineMs: number) {
    this.#driver = driver
    this.#deadline = new CallDeadline(deadlineMs, 'database of sessmgr')
  }

  /**
   * Reads a row, in one call with all others that are asked for in this turn of the event loop. The call leaves at the end
   * of the turn, so it sees every change that was over before one of the requests was sent.
   */
  async read(key: string): Promise<ReadRow> {
    this.#asking ??= this.#collect()
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
   * Changes a row, again and again until no other writer comes between.
   *
   * @param step Decides what to write, from the row as it is now. May run several times.
   * @param known The row as it was read a moment ago, which saves reading it.
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
    // The deadline is for what requests wait for. A short call first tells whether the database answers.
    await this.purge(1)
    await this.#driver.wipe()
  }
}
