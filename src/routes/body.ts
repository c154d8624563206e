import type { RoutedRequest } from '../door/host-types.ts'
import { invalidJson, RestError } from './answer.ts'

/**
 * Reads the JSON object in the body of a request. Resolves to undefined if there is no body.
 *
 * @throws RestError 408 if the body takes longer than ten seconds, 413 if it exceeds 100 KiB, 415 for another content
 * type. 400 `rest_invalid_json` for invalid JSON, a duplicate key, `__proto__`, or anything except an object.
 */
export async function jsonBody(request: RoutedRequest): Promise<Record<string, unknown> | undefined> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  // Check the type even without a body. Without a preflight request, pages on other sites can only send other types.
  if (type !== undefined && type !== 'application/json') throw unsupportedType()
  // The application's body parser has already read the body.
  if (request.body !== undefined && request.readableEnded) {
    const body = objectOf(request.body)
    return Object.keys(body).length > 0 || hasBody(request) ? body : undefined
  }
  const text = await bodyText(request)
  if (text === '') return undefined
  if (type === undefined) throw unsupportedType()
  try {
    const body: unknown = JSON.parse(text)
    if (!hasDoubtfulKey(text)) return objectOf(body)
  } catch (error) {
    if (error instanceof RestError) throw error
  }
  throw invalidJson('The body is not valid JSON, or has a duplicate key.')
}

/** Checks the headers for a body, because body parsers turn a missing body into an empty object. */
function hasBody({ headers }: RoutedRequest): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
}

function objectOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    return Object.assign(Object.create(null), body) as Record<string, unknown>
  }
  throw invalidJson('The body must be a JSON object.')
}

function unsupportedType(): RestError {
  return new RestError(415, 'rest_unsupported_media_type', 'Send JSON, with Content-Type: application/json.')
}

/** Checks for duplicate keys and `__proto__`, which JSON.parse accepts. The text must be valid JSON. */
function hasDoubtfulKey(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (part === '{') open.push(new Set())
    else if (part === '[') open.push(undefined)
    else if (part === '}' || part === ']') open.pop()
    else if (part.endsWith(':')) {
      const key = JSON.parse(part.slice(0, -1)) as string
      const keys = open.at(-1)
      if (key === '__proto__' || keys?.has(key)) return true
      keys?.add(key)
    }
  }
  return false
}

/**
 * Reads the fields of a form, even if the application's body parser has already read them.
 *
 * @throws RestError if the body cannot be read.
 */
export async function formBody(request: RoutedRequest): Promise<Readonly<Record<string, string>>> {
  const isParsed = request.body !== undefined && request.readableEnded
  const fields = isParsed ? Object.entries(Object(request.body)) : [...new URLSearchParams(await bodyText(request))]
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}

const MAX_BYTES = 100 * 1024
const MAX_MS = 10_000

/**
 * Reads the body of a request as a string.
 *
 * @throws RestError 408 if this takes longer than ten seconds, 413 if the body exceeds 100 KiB, and 400 if it is
 * incomplete or not valid UTF-8.
 */
export async function bodyText(request: RoutedRequest): Promise<string> {
  const bytes = request.readableEnded || request.destroyed ? Buffer.alloc(0) : await bytesOf(request)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim()
  } catch {
    throw invalidJson('The body is not valid UTF-8.')
  }
}

/**
 * Reads the body. If it is too large, reads it to the end and discards it, because the client could not receive the
 * response on a closed connection.
 */
function bytesOf(request: RoutedRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const tooSlow = setTimeout(() => {
      chunks.length = 0
      reject(bodyTooSlow())
    }, MAX_MS)
    request.on('data', (given) => {
      // Another middleware may have set an encoding, and a hook of Fastify may have replaced the stream.
      const chunk = typeof given === 'string' ? Buffer.from(given) : given
      if (!(chunk instanceof Uint8Array)) return reject(invalidJson('The body is not valid UTF-8.'))
      size += chunk.length
      if (size <= MAX_BYTES) return void chunks.push(chunk)
      chunks.length = 0
      reject(new RestError(413, 'rest_payload_too_large', `The body is larger than ${MAX_BYTES} bytes.`))
    })
    request.on('end', () => {
      clearTimeout(tooSlow)
      resolve(Buffer.concat(chunks))
    })
    for (const event of ['error', 'close']) {
      request.on(event, () => {
        clearTimeout(tooSlow)
        reject(invalidJson('The body is incomplete.'))
      })
    }
  })
}

function bodyTooSlow(): RestError {
  const message = `The body did not arrive within ${MAX_MS / 1000} seconds. Nothing was changed.`
  return new RestError(408, 'rest_request_timeout', message, { headers: { Connection: 'close' } })
}
