import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { LearnedBy, LiveSessions } from './live-sessions.ts'

/** Sessions that are checked in one turn of the event loop. */
const SLICE = 500
/** How long the connections may take to close after a site-wide logout, so that not all clients return at once. */
const SPREAD_MS = 5000
const STEP_MS = 50
const LEAST_PER_STEP = 10
/** Pause between two sweeps that are due because a store does not respond. */
const LEAST_PAUSE_MS = 250
/** Pause between two sweeps that are due because messages were missed. */
const MISSED_PAUSE_MS = 1000

/** Checks all sessions with open connections at intervals, which finds every end whose message was lost. */
export class Sweep {
  readonly #sessions: LiveSessions
  readonly #everyMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the next sweep begins, by `performance.now()`. */
  #due = 0
  #startedAt = 0
  #isStopped = false
  #isSpreading = false
  #mustSpreadAgain = false

  constructor(sessions: LiveSessions, everyMs: number) {
    this.#sessions = sessions
    this.#everyMs = everyMs
    this.#plan(performance.now() + this.#pause())
  }

  /** Varies, so that processes that start together do not sweep together. Never longer than the interval. */
  #pause(): number {
    return this.#everyMs * (0.8 + 0.2 * Math.random())
  }

  #plan(at: number): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#due = at
    this.#timer = setTimeout(() => this.now(), Math.max(0, at - performance.now())).unref()
  }

  /** Sweeps at a moment, unless a sweep is due before. */
  at(moment: number): void {
    if (moment < this.#due) this.#plan(Math.max(moment, this.#startedAt + LEAST_PAUSE_MS))
  }

  /** Sweeps because messages were missed, but not each time if the subscriber is cut off again and again. */
  missed(): void {
    this.at(Math.max(performance.now(), this.#startedAt + MISSED_PAUSE_MS))
  }

  /** Checks all sessions. The next sweep is counted from the start of this one, not from its end. */
  now(): void {
    this.#startedAt = performance.now()
    this.#plan(this.#startedAt + this.#pause())
    void this.#inSlices(SLICE, 'sweep', () => nextTurn())
  }

  /** Checks all sessions in a few seconds, after a site-wide logout. */
  async spread(how: LearnedBy): Promise<void> {
    this.#mustSpreadAgain = this.#isSpreading
    if (this.#isSpreading) return
    this.#isSpreading = true
    do {
      this.#mustSpreadAgain = false
      const steps = Math.min(SPREAD_MS, this.#everyMs) / STEP_MS
      const perStep = Math.max(LEAST_PER_STEP, Math.ceil(this.#sessions.all().length / steps))
      await this.#inSlices(perStep, how, () => sleep(STEP_MS, undefined, { ref: false }))
    } while (this.#mustSpreadAgain)
    this.#isSpreading = false
  }

  async #inSlices(size: number, how: LearnedBy, pause: () => Promise<unknown>): Promise<void> {
    const sessions = this.#sessions.all()
    for (let first = 0; first < sessions.length && !this.#isStopped; first += size) {
      if (first > 0) await pause()
      for (const session of sessions.slice(first, first + size)) {
        // Its last connection may have closed in the meantime.
        if (session.connections.size > 0) void this.#sessions.check(session, how)
      }
    }
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }
}
