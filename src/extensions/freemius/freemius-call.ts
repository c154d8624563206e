import { createHash, createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '../../ground/constants.ts'
import { type LicensingCode, LicensingError } from '../../index.ts'

const MAX_BYTES = 1024 * 1024
const PAUSES_MS = [100, 400]

interface FreemiusCall {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Body of the request, sent as JSON. */
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

/** Discards the rest of a response, and returns the error. */
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

const CODES: Readonly<Record<string, LicensingCode>> = {
  invalid_license_key: 'license_invalid',
  license_expired: 'license_expired',
  license_utilized: 'license_quota_reached',
  license_activated: 'license_already_active',
  license_error: 'provider_rejected',
}

/** Matches an error code. Any other value might repeat parts of the request. */
const CODE = /^[a-z][a-z0-9_]{0,63}$/

/**
 * Creates the error for a response with an error status.
 *
 * Uses only the code in the response, because the rest repeats the request, including the license key.
 */
function freemiusError(httpStatus: number, body: unknown): LicensingError {
  const { error } = Object(body) as { error?: { code?: unknown } | null }
  const code = error?.code
  if (typeof code !== 'string') return new LicensingError('provider_bad_response', { httpStatus })
  const providerCode = CODE.test(code) ? code : undefined
  const known = Object.hasOwn(CODES, code) ? CODES[code] : undefined
  const missing = httpStatus === 402 || httpStatus === 404
  return new LicensingError(known ?? (missing ? 'license_missing' : 'provider_rejected'), { httpStatus, providerCode })
}

/**
 * Runs a task with a signal that is aborted after `ms` milliseconds, or when `outer` is aborted.
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
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    const settled = () => signal.removeEventListener('abort', stop)
    promise.then(resolve, reject).then(settled, settled)
  })
}

/** How the digest is encoded before base64url. */
export type DigestForm = 'bytes' | 'hex'

/** A request, and the keys to sign it with. */
interface SignedRequest {
  readonly method: string
  /** Path without the query. */
  readonly path: string
  readonly body?: string | undefined
  readonly date: Date
  readonly id: number
  readonly publicKey: string
  /** Without a secret key, the public key signs. This is enough for public data. */
  readonly secretKey?: string | undefined
  readonly form: DigestForm
}

/** Returns the headers of a signed request to Freemius. */
export function signedHeaders(request: SignedRequest): Record<string, string> {
  const { method, path, body, id, publicKey, secretKey = publicKey, form } = request
  const date = request.date.toUTCString().replace('GMT', '+0000')
  const md5 = body === undefined ? '' : createHash('md5').update(body).digest('hex')
  const type = method === 'POST' || method === 'PUT' ? 'application/json' : ''
  const digest = createHmac('sha256', secretKey).update([method, md5, type, date, path].join('\n')).digest()
  const signature = form === 'hex' ? Buffer.from(digest.toString('hex')) : digest
  const scheme = secretKey === publicKey ? 'FSP' : 'FS'
  return {
    Authorization: `${scheme} ${id}:${publicKey}:${signature.toString('base64url')}`,
    Date: date,
    ...(body === undefined ? {} : { 'Content-MD5': md5 }),
  }
}
