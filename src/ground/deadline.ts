import { SessmgrError } from './errors.ts'

/** Settles with the promise, or rejects with the error from `onTimeout` after `ms` milliseconds. */
export async function withDeadline<T>(promise: T | PromiseLike<T>, ms: number, onTimeout: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms)
  })
  try {
    return await Promise.race([promise, expired])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Settles with what a function of the application returned.
 *
 * @param name Name of the function, for the message.
 * @throws SessmgrError `store_unavailable` after `ms` milliseconds.
 */
export function inTime<T>(ms: number, name: string, answer: T | PromiseLike<T>): Promise<T> {
  const message = `${name}() did not respond within ${ms} ms. Try again shortly.`
  return withDeadline(answer, ms, () => new SessmgrError('store_unavailable', message))
}
