import { CallDeadline } from '../../src/call-deadline.ts'

/** How long the calls to stores took that were made in this process since the last look. */
export interface CallTimes {
  readonly calls: number
  readonly slowestMs: number
}

/** Measures every call that goes through a deadline. Ends with `stop`; `look` starts from zero again. */
export function measureCalls(): { look(): CallTimes; stop(): void } {
  const { run } = CallDeadline.prototype
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
      const seen = times
      times = { calls: 0, slowestMs: 0 }
      return seen
    },
    stop() {
      CallDeadline.prototype.run = run
    },
  }
}
