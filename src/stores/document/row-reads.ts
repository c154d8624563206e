import type { CallDeadline } from '../../ground/call-deadline.ts'
import type { Clock } from '../../ground/clock.ts'
import type { DocumentDriver, DocumentReply, DocumentRow } from './document-driver.ts'

/** How many keys one call may read. The driver contract tests calls with this many keys. */
const MOST_KEYS = 500

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
   * @throws The error of `unconfirmedWrite`.
   */
  swap(
    key: string,
    before: string | undefined,
    row: DocumentRow,
    lifeMs: number | undefined,
    durably?: boolean,
  ): Promise<boolean>
}

/** Shares the calls that read rows. */
export class RowReads {
  readonly #driver: RowDriver
  readonly #deadline: CallDeadline
  #asking: { readonly keys: Set<string>; readonly reply: Promise<RowReply> } | undefined
  /** The reads that were sent in this turn of the event loop, by key, if the driver is pipelined. */
  readonly #sent = new Map<string, Promise<RowReply>>()
  /** How many reads have no reply yet. */
  #reading = 0
  /** Whether the last read served only one callback. If so, the next read need not wait for others. */
  #isLone = true

  constructor(driver: RowDriver, deadline: CallDeadline) {
    this.#driver = driver
    this.#deadline = deadline
  }

  /** Reads a row; see `DocumentRows.read()`. */
  read(key: string, exactly: boolean): Promise<RowReply> {
    if (this.#driver.isPipelined) return this.#askAtOnce(key, exactly)
    if (!this.#asking || this.#asking.keys.size === MOST_KEYS) this.#asking = this.#collect()
    this.#asking.keys.add(key)
    return this.#asking.reply
  }

  /** Lets no later read of a row share a call that was sent before. */
  forget(key: string): void {
    this.#sent.delete(key)
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
}
