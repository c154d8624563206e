import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '../../../ground/constants.ts'
import { LicensingError } from '../licensing/licensing-error.ts'
import { freemiusError } from './freemius-error.ts'
import { orAborted } from './within-time.ts'

const MAX_BYTES = 1024 * 1024
const PAUSES_MS = [100, 400]

export interface FreemiusCall {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sent as JSON. */
  readonly body?: object | undefined
  /** Aborts the call and its retries. */
  readonly signal: AbortSignal
}

/**
 * Calls Freemius and returns the JSON of its response. Tries a GET up to three times, and other methods once.
 *
 * @throws LicensingError for every failure. It contains nothing from the response except numbers and codes.
 */
export async function callFreemius(fetchIt: typeof fetch, call: FreemiusCall): Promise<unknown> {
  for (const pause of call.method === 'GET' ? PAUSES_MS : []) {
    try {
      return await attempt(fetchIt, call)
    } catch (error) {
      const { retryable, httpStatus } = error as LicensingError
      // Do not retry at once after "too many requests".
      if (!retryable || httpStatus === 429 || call.signal.aborted) throw error
      await sleep(pause, undefined, { signal: call.signal }).catch(() => Promise.reject(error))
    }
  }
  return attempt(fetchIt, call)
}

async function attempt(fetchIt: typeof fetch, { method, url, headers, body, signal }: FreemiusCall): Promise<unknown> {
  const asked = fetchIt(url, {
    method,
    headers: {
      Accept: 'application/json',
      'User-Agent': `sessmgr/${VERSION}`,
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
    redirect: 'error',
    signal,
  })
  const response = await orAborted(asked, signal).catch((error) => Promise.reject(unreachable(error, signal)))
  const { status } = response
  if (response.redirected) throw refused(response, new LicensingError('provider_bad_response'))
  if (status === 429 || status >= 500) {
    throw refused(response, new LicensingError('provider_unavailable', { httpStatus: status }))
  }
  const json = jsonOf(await textOf(response, signal), status)
  if (!response.ok) throw freemiusError(status, json)
  return json
}

/** Discards the rest of a response. */
function refused(response: Response, error: LicensingError): LicensingError {
  void response.body?.cancel().catch(() => {})
  return error
}

async function textOf(response: Response, signal: AbortSignal): Promise<string> {
  const tooLarge = new LicensingError('provider_bad_response', { httpStatus: response.status })
  if (Number(response.headers.get('content-length')) > MAX_BYTES) throw refused(response, tooLarge)
  const reader = response.body?.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    // The signal does not always abort a body that has started to arrive.
    while (reader) {
      const { value } = await orAborted(reader.read(), signal)
      if (!value) break
      size += value.byteLength
      if (size > MAX_BYTES) throw tooLarge
      chunks.push(value)
    }
  } catch (error) {
    void reader?.cancel().catch(() => {})
    throw error === tooLarge ? error : unreachable(error, signal)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function jsonOf(text: string, httpStatus: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new LicensingError('provider_bad_response', { httpStatus })
  }
}

function unreachable(error: unknown, signal: AbortSignal): LicensingError {
  if (signal.aborted) {
    return new LicensingError('provider_unavailable', { message: 'The licensing provider did not respond in time.' })
  }
  const { cause } = error as { cause?: { code?: unknown; message?: unknown } }
  if (/redirect/i.test(String(cause?.message))) {
    const message = 'The licensing provider sent a redirect, which is not followed.'
    return new LicensingError('provider_bad_response', { message })
  }
  const code = /^[A-Z_]{1,40}$/.exec(String(cause?.code))?.[0] ?? 'no connection'
  return new LicensingError('provider_unavailable', { message: `The licensing provider cannot be reached (${code}).` })
}
