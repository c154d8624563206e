import { hash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { CallDeadline } from '../../ground/call-deadline.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { DocumentDriver, DocumentReply } from './document-driver.ts'

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

/** How many calls of one process may wait to write the same row. */
const MOST_WAITING = 1000
/** This many slow writes suggest a lock. Each of them holds a connection of the application's pool. */
const MOST_SLOW = 4
/** How many writes may be unsettled while MOST_SLOW of them are slow. */
const MOST_UNSETTLED = 6
/** A write counts as slow after this fraction of the deadline. */
const SLOW_PART = 1 / 8
/** A write that hangs for longer may be on a dead connection, so another write is sent. */
const LOST_MS = 60_000
/** Factor by which LOST_MS grows with each further write that also hangs. */
const MORE_PATIENCE = 10

/** How many writes a row names, so that each of them is recognized after later ones. */
const MOST_NAMES = 4
/** Hexadecimal digits of a name: 48 bits. */
const NAME_LENGTH = 12

/** A row at one moment. */
export interface ReadRow {
  readonly now: number
  /** The names of its last writes, newest first. Undefined if there is no row, not even a deleted one. */
  readonly revision: string | undefined
  /** Undefined if the row is missing or deleted. */
  readonly text: string | undefined
}

/** What to write to a row, if anything, and the result to return afterwards. */
export interface RowChange<Result> {
  readonly result: Result
  /** An undefined `text` deletes the row. An undefined `lifeMs` means that it never expires. */
  readonly write?: { readonly text: string | undefined; readonly lifeMs?: number | undefined } | undefined
}

/** The right of one call to write a row. */
interface Turn {
  readonly key: string
  /** Whether the call had to wait. If so, other calls may have written the row. */
  readonly waited: boolean
  readonly waiting: Set<WaitingCall>
  readonly group: TurnGroup
  /** When the turn began, or last sent a write. */
  since: number
  /** The write, until it settles. */
  writing?: Promise<boolean> | undefined
  /** When the call gave up on its write. */
  lateAt?: number
}

/** A call that waits for a turn. */
interface WaitingCall {
  readonly key: string
  queue?: Set<WaitingCall> | undefined
  begin(turn: Turn): void
  refuse(): void
}

/** Turns that share a limit. */
class TurnGroup {
  /** Turns whose calls still run or whose writes still hang, oldest write first. */
  readonly turns = new Set<Turn>()
  /** When a call last gave up on a write. */
  lateAt = Number.NEGATIVE_INFINITY

  /** Whether a write may still settle in time. */
  get isSending(): boolean {
    for (const { lateAt } of this.turns) if (lateAt === undefined) return true
    return false
  }
}

/**
 * Lets one call at a time write a row, and limits the connections that writes hold while other clients of the database
 * have rows locked. A write that waits for a lock cannot be canceled, so it counts until it settles.
 */
class RowTurns {
  readonly #slowMs: number
  readonly #turns = new Map<string, Turn>()
  readonly #usual = new TurnGroup()
  /** Turns that test, one at a time, whether other rows can be written while the usual turns are used up. */
  readonly #probes = new TurnGroup()
  /** Turns of rows that were locked a while ago. Separate, so that they take no turns from other rows. */
  readonly #repeats = new TurnGroup()
  /** Calls that wait until fewer writes are unsettled. */
  readonly #waiting = new Set<WaitingCall>()

  constructor(deadlineMs: number) {
    this.#slowMs = deadlineMs * SLOW_PART
  }

  /** Resolves to a turn once the row may be written. @throws SessmgrError `store_unavailable`. */
  take(key: string, mostMs: number): Promise<Turn> {
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined
      const call: WaitingCall = {
        key,
        begin(turn) {
          clearTimeout(timer)
          resolve(turn)
        },
        refuse() {
          clearTimeout(timer)
          call.queue?.delete(call)
          reject(isLocked())
        },
      }
      this.#place(call)
      if (call.queue) timer = setTimeout(call.refuse, mostMs)
    })
  }

  #place(call: WaitingCall): void {
    const { key, queue } = call
    const before = this.#turns.get(key)
    const verdict = this.#judge(before)
    queue?.delete(call)
    call.queue = undefined
    if (verdict === 'refuse') call.refuse()
    else if (verdict !== 'wait') call.begin(this.#begin(key, verdict, before?.waiting))
    else call.queue = (before?.waiting ?? this.#waiting).add(call)
  }

  /**
   * Decides whether a call may write now, based on the row's turn `before` it. If so, returns the group for the call's
   * turn.
   */
  #judge(before: Turn | undefined): TurnGroup | 'wait' | 'refuse' {
    if (before && before.lateAt === undefined) return before.waiting.size < MOST_WAITING ? 'wait' : 'refuse'
    const now = performance.now()
    const [usual, probes, repeats] = [this.#usual, this.#probes, this.#repeats]
    const isFull = this.#isFull(now)
    const isDue = (since: number, hanging: number) => now - since >= LOST_MS * MORE_PATIENCE ** hanging
    if (before?.lateAt !== undefined) {
      // While the usual turns are used up, rows that might not be locked come first.
      const hanging = probes.turns.size + repeats.turns.size + (isFull ? 1 : 0)
      return isDue(Math.max(before.lateAt, repeats.lateAt), hanging) ? repeats : 'refuse'
    }
    if (!isFull) return usual
    if (usual.isSending || probes.isSending) return 'wait'
    return isDue(Math.max(usual.lateAt, probes.lateAt), probes.turns.size) ? probes : 'refuse'
  }

  #isFull(now: number): boolean {
    const { turns } = this.#usual
    if (turns.size < MOST_UNSETTLED) return false
    let slow = 0
    for (const { since } of turns) {
      if (now - since < this.#slowMs) break
      slow += 1
      if (slow === MOST_SLOW) break
    }
    return slow === MOST_SLOW
  }

  #begin(key: string, group: TurnGroup, waiting = new Set<WaitingCall>(), waited = false): Turn {
    const turn = { key, waited, waiting, group, since: performance.now() }
    group.turns.add(turn)
    this.#turns.set(key, turn)
    return turn
  }

  /** Records the write of a turn until it settles. */
  send(turn: Turn, writing: Promise<boolean>): void {
    const { turns } = turn.group
    turn.writing = writing
    turn.since = performance.now()
    turns.delete(turn)
    turns.add(turn)
    const settled = () => {
      turn.writing = undefined
    }
    writing.then(settled, settled)
  }

  /** Ends a turn, once its write has settled. */
  leave(turn: Turn): void {
    const { group, writing } = turn
    if (!writing) return this.#end(turn)
    turn.lateAt = performance.now()
    group.lateAt = turn.lateAt
    const settled = () => this.#end(turn)
    writing.then(settled, settled)
  }

  #end(turn: Turn): void {
    const { key, group, waiting } = turn
    group.turns.delete(turn)
    if (this.#turns.get(key) === turn) {
      const [next] = waiting
      if (next) {
        waiting.delete(next)
        next.begin(this.#begin(key, group, waiting, true))
      } else this.#turns.delete(key)
    }
    this.#wake()
  }

  #wake(): void {
    for (const call of this.#waiting) {
      // Calls for other rows would have to wait as well.
      if (!this.#turns.has(call.key) && this.#judge(undefined) === 'wait') return
      this.#place(call)
    }
  }
}

function isLocked(): SessmgrError {
  const problem = 'Earlier writes to the sessmgr database have not finished'
  return new SessmgrError('store_unavailable', `${problem}, perhaps because of a lock. Try again shortly.`)
}

/**
 * Reads and changes rows through a driver. A call that fails or misses its deadline rejects with `store_unavailable`.
 */
export class DocumentRows {
  readonly #driver: DocumentDriver
  readonly #deadlineMs: number
  readonly #deadline: CallDeadline
  readonly #turns: RowTurns
  #asking: { readonly keys: Set<string>; readonly reply: Promise<DocumentReply> } | undefined
  /** How many reads have no reply yet. */
  #reading = 0
  /** Whether the last read served only one callback. If so, the next read need not wait for others. */
  #isLone = true
  /** Counts writes from a random number, so that even processes that exit after a few writes sometimes purge. */
  #writes = Math.floor(Math.random() * PURGE_EVERY)

  /** @param mostLate How many statements may hang past their deadline before no more are sent. */
  constructor(driver: DocumentDriver, deadlineMs: number, mostLate?: number) {
    this.#driver = driver
    this.#deadlineMs = deadlineMs
    this.#turns = new RowTurns(deadlineMs)
    this.#deadline = new CallDeadline(deadlineMs, 'sessmgr database', { mostLate })
  }

  /**
   * Reads a row. Up to 500 reads in the same turn of the event loop share one call. The call is sent at the end of the
   * turn, or sooner while reads are rare. It sees every change that was complete when any of the reads was requested.
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
    const send = () => {
      this.#asking = undefined
      this.#reading += 1
      return this.#deadline
        .run(() => this.#driver.get([...keys]))
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
   */
  async change<Result>(key: string, step: (row: ReadRow) => RowChange<Result>, known?: ReadRow): Promise<Result> {
    let row = known
    let turn: Turn | undefined
    let failure: unknown
    const sent = new Map<string, Result>()
    const end = performance.now() + this.#deadlineMs
    try {
      for (let tries = 1; performance.now() < end; tries++) {
        const isFresh = row === undefined
        row ??= await this.read(key)
        const made = sent.size > 0 && namesIn(row).find((name) => sent.has(name))
        if (made) return sent.get(made) as Result
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
          sent.set(name, result)
          try {
            if (await this.#swap(turn, row, name, write)) return result
          } catch (error) {
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
    }
    const problem = `Other writers kept changing the same row in the sessmgr database for ${this.#deadlineMs} ms`
    throw new SessmgrError('store_unavailable', `${problem}. Try again shortly.`)
  }

  async #swap(
    turn: Turn,
    before: ReadRow,
    name: string,
    { text = '', lifeMs }: NonNullable<RowChange<unknown>['write']>,
  ): Promise<boolean> {
    this.#writes += 1
    if (this.#writes % PURGE_EVERY === 0) this.purge(PURGE_COUNT).catch(() => {})
    const life = text === '' ? DELETED_MS : lifeMs
    const revision = [name, ...namesIn(before)].slice(0, MOST_NAMES).join('.')
    const whole = life === undefined ? undefined : Math.max(1, Math.round(life))
    const write = () => {
      // Call `then` only once, because a query builder sends its statement each time.
      const writing = Promise.resolve(this.#driver.swap(turn.key, before.revision, { revision, text }, whole))
      this.#turns.send(turn, writing)
      return writing
    }
    return this.#deadline.run(write, true)
  }

  /** Schedules a purge for when the rows just emptied expire, in case no later write triggers one. */
  purgeLater(): void {
    const purgeAll = async () => {
      while ((await this.purge(PURGE_COUNT)) === PURGE_COUNT);
    }
    setTimeout(() => void purgeAll().catch(() => {}), DELETED_MS + 1000).unref()
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
const PLAIN = /^[\w.-]{0,100}$/

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
