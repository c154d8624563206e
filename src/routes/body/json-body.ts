import type { HostRequest } from '../../guard/host-types.ts'
import { invalidJson, RestError } from '../rest-error.ts'
import { bodyText } from './body-text.ts'

/**
 * Reads the JSON object in the body of a request. Resolves to undefined if there is no body.
 *
 * @throws RestError 408 if the body takes longer than ten seconds, 413 if it exceeds 100 kB, 415 for another content
 * type. 400 `rest_invalid_json` for invalid JSON, a duplicate key, `__proto__`, or anything except an object.
 */
export async function jsonBody(request: HostRequest): Promise<Record<string, unknown> | undefined> {
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

/** Checks the headers for a body, because body parsers turn a missing one into an empty object. */
function hasBody({ headers }: HostRequest): boolean {
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

/** Finds duplicate keys and `__proto__`, which JSON.parse accepts. The text must be valid JSON. */
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
