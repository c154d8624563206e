/**
 * Runs a task with a signal that is aborted after `ms` milliseconds, or when another signal is.
 *
 * AbortSignal.timeout and AbortSignal.any are not used: Node may garbage-collect their signals before they fire.
 */
export async function withinTime<T>(
  ms: number,
  outer: AbortSignal | undefined,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const stop = () => controller.abort()
  const timer = setTimeout(stop, ms)
  outer?.addEventListener('abort', stop, { once: true })
  if (outer?.aborted) stop()
  try {
    return await task(controller.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', stop)
  }
}

/** Settles with the promise, or rejects as soon as the signal is aborted. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const settled = () => signal.removeEventListener('abort', stop)
    promise.then(resolve, reject).then(settled, settled)
  })
}
