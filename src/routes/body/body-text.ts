import type { HostRequest } from '../../guard/host-types.ts'
import { invalidJson, RestError } from '../rest-error.ts'

const MAX_BYTES = 100 * 1024
const MAX_MS = 10_000

/**
 * Reads the body of a request as a string.
 *
 * @throws RestError 408 if this takes longer than ten seconds, 413 if the body exceeds 100 kB, and 400 if it is
 * incomplete or not valid UTF-8.
 */
export async function bodyText(request: HostRequest): Promise<string> {
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
function bytesOf(request: HostRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const tooSlow = setTimeout(() => {
      chunks.length = 0
      reject(bodyTooSlow())
    }, MAX_MS)
    request.on('data', (chunk: Buffer) => {
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
