import type { HostRequest } from '../middleware/host-types.ts'
import { RestError } from '../middleware/rest-error.ts'

const MAX_BYTES = 100 * 1024

/**
 * Reads the JSON object in a request's body; nothing at all is an empty object.
 *
 * @throws RestError 413 above 100 kB, 415 for another content type, 400 `rest_invalid_json` for broken JSON, a key that
 * occurs twice, `__proto__`, or anything but an object.
 */
export async function jsonBody(request: HostRequest): Promise<Record<string, unknown>> {
  // A body parser of the application has been here before.
  if (request.body !== undefined && request.readableEnded) return objectOf(request.body)
  const text = await textOf(request)
  if (text === '') return {}
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new RestError(415, 'rest_unsupported_media_type', 'Send JSON, with Content-Type: application/json.')
  }
  try {
    const body: unknown = JSON.parse(text)
    if (!hasDoubtfulKey(text)) return objectOf(body)
  } catch (error) {
    if (error instanceof RestError) throw error
  }
  throw invalidJson('The body is not valid JSON, or has a key twice.')
}

async function textOf(request: HostRequest): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES)
      throw new RestError(413, 'rest_payload_too_large', `The body is larger than ${MAX_BYTES} bytes.`)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).trim()
  } catch {
    throw invalidJson('The body is not UTF-8.')
  }
}

function objectOf(body: unknown): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    return Object.assign(Object.create(null), body) as Record<string, unknown>
  }
  throw invalidJson('The body must be a JSON object.')
}

function invalidJson(message: string): RestError {
  return new RestError(400, 'rest_invalid_json', message)
}

/** Looks for a key twice in one object, and for `__proto__`: JSON.parse takes both without a word. Needs valid JSON. */
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
