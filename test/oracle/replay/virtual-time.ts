/** A timer of a history, which fires when its clock reaches it and never by itself. */
class Timer {
  due: number
  readonly every: number | undefined
  readonly run: () => void

  constructor(due: number, every: number | undefined, run: () => void) {
    this.due = due
    this.every = every
    this.run = run
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/** How many turns of the real event loop a command may take before much time passes. */
const REAL_TURNS = 20
/** More than this is much time. */
const MUCH_MS = 100

const RealDate = Date
const real = {
  Date,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  now: performance.now.bind(performance),
  random: Math.random,
}

/**
 * The time of the code under test: `Date`, `performance.now()`, timers and `Math.random()` of this thread. While it is
 * installed, time passes only when a history says so, or when nothing is left to do but to wait.
 */
export class VirtualTime {
  /** Milliseconds since the history began. Never goes back. */
  #elapsed = 0
  /** The wall clock at the beginning, moved by `setClock`. */
  #wall: number
  #timers = new Set<Timer>()
  /** What waits for the next turn. */
  #immediate = new Set<() => void>()
  #chance = 1

  constructor(start: number) {
    this.#wall = start
  }

  install(): void {
    // Whole milliseconds, as on every machine.
    const wallNow = () => Math.floor(this.#wall + this.#elapsed)
    globalThis.Date = class extends RealDate {
      constructor(...given: []) {
        super(...(given.length === 0 ? ([wallNow()] as unknown as []) : given))
      }
      static override now = wallNow
    } as DateConstructor
    performance.now = () => this.#elapsed
    Math.random = () => {
      this.#chance = (Math.imul(this.#chance, 48_271) >>> 0) % 0x7fffffff || 1
      return this.#chance / 0x7fffffff
    }
    const add =
      (every: boolean) =>
      (run: (...given: unknown[]) => void, ms: unknown, ...given: unknown[]) => {
        const wait = Math.max(1, Number(ms) || 1)
        const work = given.length === 0 ? run : () => run(...given)
        const timer = new Timer(this.#elapsed + wait, every ? wait : undefined, work)
        this.#timers.add(timer)
        return timer
      }
    const remove = (timer: unknown) => void this.#timers.delete(timer as Timer)
    const soon = (run: (...given: unknown[]) => void, ...given: unknown[]) => {
      const work = () => run(...given)
      this.#immediate.add(work)
      return work
    }
    Object.assign(globalThis, {
      setTimeout: add(false),
      setInterval: add(true),
      clearTimeout: remove,
      clearInterval: remove,
      setImmediate: soon,
      clearImmediate: (work: () => void) => void this.#immediate.delete(work),
    })
  }

  uninstall(): void {
    const { now, random, ...globals } = real
    Object.assign(globalThis, globals)
    performance.now = now
    Math.random = random
    this.#timers.clear()
  }

  /** Runs work to its end, and lets as much time pass as it waits for. */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    work.then(over, over)
    let realTurns = 0
    for (let idle = 0; !isOver; idle++) {
      await this.#turn()
      if (isOver) break
      if (idle > 10_000) throw new Error('A command does not end.')
      const next = this.#next()
      const isSoon = next && next.due - this.#elapsed <= MUCH_MS
      if (next && (isSoon || realTurns >= REAL_TURNS)) this.#fire(next)
      else {
        // Something real, such as a module that is being loaded.
        realTurns += 1
        await new Promise((resolve) => real.setImmediate(resolve))
      }
    }
    return work
  }

  /** Lets time pass, with everything that is due in it. A long time is like a machine that sleeps: each timer fires once. */
  async pass(ms: number): Promise<void> {
    const end = this.#elapsed + ms
    await this.#turn()
    if (ms > 5000) this.#elapsed = end
    for (let next = this.#next(); next && next.due <= end; next = this.#next()) {
      this.#fire(next)
      await this.#turn()
    }
    this.#elapsed = Math.max(this.#elapsed, end)
  }

  /** Sets the clock forward or back, without any time passing. */
  setClock(ms: number): void {
    this.#wall += ms
  }

  get elapsed(): number {
    return this.#elapsed
  }

  #next(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) if (!first || timer.due < first.due) first = timer
    return first
  }

  #fire(timer: Timer): void {
    this.#elapsed = Math.max(this.#elapsed, timer.due)
    if (timer.every === undefined) this.#timers.delete(timer)
    else timer.due = this.#elapsed + timer.every
    timer.run()
  }

  /**
   * Lets everything run that waits for nothing but its turn. A tick comes after all promises that are settled, and
   * costs less than a turn of the real event loop.
   */
  async #turn(): Promise<void> {
    await tick()
    while (this.#immediate.size > 0) {
      const works = [...this.#immediate]
      this.#immediate.clear()
      for (const work of works) work()
      await tick()
    }
  }
}

function tick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}
