import { SessmgrError } from '../../ground/errors.ts'

/** How many changes of one row may wait to be written together. */
const MOST_CHANGES = 1000
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

/** The right of one call to write a row. */
export interface Turn {
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
export class RowTurns {
  readonly #slowMs: number
  readonly #turns = new Map<string, Turn>()
  readonly #usual = new TurnGroup()
  /** Turns that test, one at a time, whether other rows can be written while the usual turns are used up. */
  readonly #probes = new TurnGroup()
  /** Turns of rows that were locked a while ago. Separate, so that they take no turns from other rows. */
  readonly #repeats = new TurnGroup()
  /** Calls that wait until fewer writes are unsettled. */
  readonly #waiting = new Set<WaitingCall>()

  /** @param deadlineMs The deadline of a write. If infinite, no number of hanging writes holds back others. */
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
    if (before && before.lateAt === undefined) return 'wait'
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

/** What to write to a row, if anything, and the result to return afterwards. */
export interface RowChange<Result> {
  readonly result: Result
  readonly write?: RowWrite | undefined
}

export interface RowWrite {
  /** Undefined deletes the row. */
  readonly text: string | undefined
  /** Undefined means that the row never expires. */
  readonly lifeMs?: number | undefined
  /** Whether to write even if memory is short, and to wait until the write survives the loss of the primary. */
  readonly durably?: boolean | undefined
}

/** The row that a change starts from. */
interface Row {
  readonly revision: string | undefined
  readonly text: string | undefined
}

/** A change that was requested, and what to do with its result. */
export interface Request<Read extends Row> {
  /** Decides what to write, based on the current row. May run several times. */
  readonly step: (row: Read) => RowChange<unknown>
  /** What the step has returned for a row. */
  readonly planned: { readonly row: Read; readonly change: RowChange<unknown> }
  resolve(result: unknown): void
  reject(error: unknown): void
  readonly onWritten?: ((row: Read) => void) | undefined
}

/** What each change of a batch returns or throws for a row, and the write that makes all of them. */
export interface BatchPlan {
  readonly outcomes: readonly (RowChange<unknown> | { readonly error: unknown })[]
  readonly write: RowWrite | undefined
}

/** Changes of one row that are written together. Each starts from the row that the one before leaves. */
export class RowBatch<Read extends Row> {
  readonly #requests: Request<Read>[]

  constructor(first: Request<Read>) {
    this.#requests = [first]
  }

  add(request: Request<Read>): void {
    if (this.#requests.length === MOST_CHANGES) request.reject(isLocked())
    else this.#requests.push(request)
  }

  /** @param revision The revision that the row will have. */
  plan(read: Read, revision: string): BatchPlan {
    let row = read
    let write: RowWrite | undefined
    const outcomes = this.#requests.map(({ step, planned }) => {
      try {
        const change = planned.row === row ? planned.change : step(row)
        if (!change.write) return change
        write = { ...change.write, durably: change.write.durably || write?.durably }
        row = { ...row, revision, text: write.text || undefined }
        return change
      } catch (error) {
        return { error }
      }
    })
    return { outcomes, write }
  }

  /**
   * @param written The new row, if it is known to be the latest.
   * @param unconfirmed Returns an error for each durable write, if the write could still be lost.
   */
  settle({ outcomes }: BatchPlan, written?: Read, unconfirmed?: () => unknown): void {
    this.#requests.forEach(({ resolve, reject, onWritten }, place) => {
      if (written) onWritten?.(written)
      const outcome = outcomes[place] as BatchPlan['outcomes'][number]
      if ('error' in outcome) reject(outcome.error)
      else if (outcome.write?.durably && unconfirmed) reject(unconfirmed())
      else resolve(outcome.result)
    })
  }

  fail(error: unknown): void {
    for (const { reject } of this.#requests) reject(error)
  }
}

function isLocked(): SessmgrError {
  const problem = 'Earlier writes to the sessmgr database have not finished'
  return new SessmgrError('store_unavailable', `${problem}, perhaps because of a lock. Try again shortly.`)
}
