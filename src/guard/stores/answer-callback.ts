/** Hands a promise's outcome to a callback, outside the promise: what the callback throws is its caller's affair. */
export function answerCallback<T>(
  outcome: Promise<T>,
  callback?: (error?: unknown, value?: T) => void,
): Promise<T> | undefined {
  if (!callback) {
    // Whoever takes the promise learns of a failure; whoever does not must not end the process by it.
    outcome.catch(() => {})
    return outcome
  }
  outcome.then(
    (value) => process.nextTick(callback, null, value),
    (error) => process.nextTick(callback, error),
  )
  return undefined
}
