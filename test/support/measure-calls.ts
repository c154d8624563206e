import { monitorEventLoopDelay } from 'node:perf_hooks'
import { CallDeadline, type PendingCall } from '../../src/ground/call-deadline.ts'

/** How long the store calls of this process took since the last measurement. */
export interface CallTimes {
  readonly calls: number
  readonly slowestMs: number
  /** The longest time for which this process itself was blocked. */
  readonly stallMs: number
}

/** Measures every call with a deadline, until `stop`. `look` returns the times and starts from zero. */
export function measureCalls(): { look(): CallTimes; stop(): void } {
  const { begin } = CallDeadline.prototype
  const stalls = monitorEventLoopDelay({ resolution: 5 })
  stalls.enable()
  let times = { calls: 0, slowestMs: 0 }
  CallDeadline.prototype.begin = function measured(this: CallDeadline, call: PendingCall): boolean {
    const start = performance.now()
    const note = () => {
      times.calls += 1
      times.slowestMs = Math.max(times.slowestMs, performance.now() - start)
    }
    // A call waits until it has succeeded or failed.
    let isWaiting = false
    Object.defineProperty(call, 'isWaiting', {
      get: () => isWaiting,
      set(waits: boolean) {
        if (isWaiting && !waits) note()
        isWaiting = waits
      },
    })
    const mayBegin = begin.call(this, call)
    if (!mayBegin) note()
    return mayBegin
  }
  return {
    look() {
      const seen = { ...times, stallMs: stalls.max / 1e6 }
      times = { calls: 0, slowestMs: 0 }
      stalls.reset()
      return seen
    },
    stop() {
      CallDeadline.prototype.begin = begin
      stalls.disable()
    },
  }
}
