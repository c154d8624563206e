import { messageOf, SessmgrError } from './errors.ts'

/** Settles like the promise, or rejects with the error from `onTimeout` after `ms` milliseconds. */
export function withDeadline<T>(promise: T | PromiseLike<T>, ms: number, onTimeout: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), ms)
    Promise.resolve(promise).then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (reason) => {
        clearTimeout(timer)
        reject(reason)
      },
    )
  })
}

/**
 * Resolves to what a function of the application answers, which an option has given.
 *
 * @throws SessmgrError `hook_failed`, `hook_timeout`, which name the option; or that of the function.
 */
export function answerInTime<T>(option: string, deadlineMs: number, ask: () => Promise<T>): Promise<T> {
  const tooSlow = () => new SessmgrError('hook_timeout', `"${option}" did not respond within ${deadlineMs} ms.`)
  return withDeadline(ask(), deadlineMs, tooSlow).catch((cause) => {
    if (cause instanceof SessmgrError) throw cause
    throw new SessmgrError('hook_failed', `"${option}" failed: ${messageOf(cause)}`, { cause })
  })
}

/** Number of concurrent calls: enough to be fast, but few enough to let other requests through. */
const BATCH = 250

/**
 * Runs a task on batches of items, one after the other, until there are enough results.
 *
 * Resolves to the results so far, in the order of the items.
 */
export function inBatches<Item, Result>(
  items: readonly Item[],
  task: (batch: readonly Item[]) => Promise<readonly Result[]>,
  isEnough?: (results: readonly Result[]) => boolean,
): Promise<readonly Result[]> {
  return items.length <= BATCH ? task(items) : inManyBatches(items, task, isEnough)
}

async function inManyBatches<Item, Result>(
  items: readonly Item[],
  task: (batch: readonly Item[]) => Promise<readonly Result[]>,
  isEnough = (_: readonly Result[]) => false,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let first = 0; first < items.length && !isEnough(results); first += BATCH) {
    results.push(...(await task(items.slice(first, first + BATCH))))
  }
  return results
}

/** Runs tasks of the same key one after the other in this process. Tasks of different keys run in parallel. */
export type KeyedQueue<Key = string> = <T>(key: Key, task: () => Promise<T>) => Promise<T>

/**
 * Creates a queue in which a task delays the next one by at most `holdMs`.
 *
 * The queue only avoids conflicts. The registry's compare-and-set keeps the limit exact without it, so a task that
 * hangs delays the others but does not block them.
 */
export function createKeyedQueue<Key = string>(holdMs: number): KeyedQueue<Key> {
  const tails = new Map<Key, Turn>()
  const run = async <T>(key: Key, turn: Turn, task: () => Promise<T>): Promise<T> => {
    turn.begin()
    try {
      return await task()
    } finally {
      turn.end()
      if (tails.get(key) === turn) tails.delete(key)
    }
  }
  return (key, task) => {
    const before = tails.get(key)
    const turn = new Turn(holdMs)
    tails.set(key, turn)
    return before ? before.over().then(() => run(key, turn, task)) : run(key, turn, task)
  }
}

/** The turn of one task. Tasks rarely have to wait, so a timer starts only if another task waits for this one. */
class Turn {
  readonly #holdMs: number
  #begunAt: number | undefined
  #isOver = false
  #release: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(holdMs: number) {
    this.#holdMs = holdMs
  }

  begin(): void {
    this.#begunAt = performance.now()
    this.#holdOn()
  }

  end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#release?.()
  }

  /** Resolves once the next task may begin. Called at most once. */
  over(): Promise<void> {
    if (this.#isOver) return Promise.resolve()
    return new Promise((resolve) => {
      this.#release = resolve
      this.#holdOn()
    })
  }

  #holdOn(): void {
    if (this.#begunAt === undefined || !this.#release) return
    this.#timer = setTimeout(this.#release, Math.max(0, this.#begunAt + this.#holdMs - performance.now()))
  }
}
