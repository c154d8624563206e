import { monitorEventLoopDelay } from 'node:perf_hooks'
import { CallDeadline } from '../../src/ground/call-deadline.ts'

/** How long the calls to stores took that were made in this process since the last look. */
export interface CallTimes {
  readonly calls: number
  readonly slowestMs: number
  /** The longest that this process itself was held up: nothing can be on time then. */
  readonly stallMs: number
}

/** Measures every call that goes through a deadline. Ends with `stop`; `look` starts from zero again. */
export function measureCalls(): { look(): CallTimes; stop(): void } {
  const { run } = CallDeadline.prototype
  const stalls = monitorEventLoopDelay({ resolution: 5 })
  stalls.enable()
  let times = { calls: 0, slowestMs: 0 }
  CallDeadline.prototype.run = function measured<T>(this: CallDeadline, call: () => PromiseLike<T>): Promise<T> {
    const start = performance.now()
    const outcome = run.call(this, call) as Promise<T>
    const note = () => {
      times.calls += 1
      times.slowestMs = Math.max(times.slowestMs, performance.now() - start)
    }
    outcome.then(note, note)
    return outcome
  }
  return {
    look() {
      const seen = { ...times, stallMs: stalls.max / 1e6 }
      times = { calls: 0, slowestMs: 0 }
      stalls.reset()
      return seen
    },
    stop() {
      CallDeadline.prototype.run = run
      stalls.disable()
    },
  }
}
