import { withDeadline } from '../../../ground/deadline.ts'
import { LicensingError } from './licensing-error.ts'

/** Slightly longer than the providers' own deadline, so that their own error is the one reported. */
const DEADLINE_MS = 10_250

/**
 * Calls a provider with a deadline.
 *
 * @throws LicensingError and no other error: `provider_unavailable` after the deadline, and `provider_bad_response` in
 * place of any other error, whose message is dropped.
 */
export async function callProvider<T>(call: (signal: AbortSignal) => Promise<T>, ms = DEADLINE_MS): Promise<T> {
  const controller = new AbortController()
  try {
    return await withDeadline(
      (async () => call(controller.signal))(),
      ms,
      () => new LicensingError('provider_unavailable'),
    )
  } catch (error) {
    controller.abort()
    if (error instanceof LicensingError) throw error
    const message = 'The licensing provider failed in an unexpected way.'
    throw new LicensingError('provider_bad_response', { message })
  }
}
