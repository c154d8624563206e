import { pipeline } from 'node:stream/promises'
import type { HostResponse } from '../door/host-types.ts'

/** A response that is sent as a file while it is still being created. */
export class RestDownload {
  readonly name: string
  readonly type: string
  readonly chunks: AsyncIterable<string>

  /** @param name Name of the file. */
  constructor(name: string, type: string, chunks: AsyncIterable<string>) {
    this.name = name
    this.type = type
    this.chunks = chunks
  }
}

/** A download without progress for this long is aborted, because its client might never read on. */
const STALL_MS = 60_000
/** Minimum time between two checks that the caller still has permission. */
const CHECK_EVERY_MS = 1000
/** How many bytes to send at once, at most. The client makes progress when it has read that many. */
const SLICE = 16_384

/**
 * Sends a download, as fast as the client reads it. If creating the file fails after the first chunk, or if the
 * client reads nothing for a minute, closes the connection, so that the file does not seem complete.
 *
 * @param mayGoOn Called between chunks, at most once a second. Rejects if the caller has lost the permission.
 */
export async function sendDownload(
  response: HostResponse,
  { name, type, chunks }: RestDownload,
  isHead: boolean,
  mayGoOn: () => Promise<unknown>,
): Promise<void> {
  let checkedAt = performance.now()
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  response.setHeader('Content-Type', type)
  response.setHeader('Content-Disposition', `attachment; filename="${name}"`)
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.writeHead(200)
  if (isHead || first.done) {
    await iterator.return?.()
    response.end()
    return
  }

  let stalled: NodeJS.Timeout | undefined
  async function* all() {
    for (let next = first; !next.done; next = await iterator.next()) {
      const bytes = Buffer.from(next.value)
      for (let at = 0; at < bytes.length; at += SLICE) {
        clearTimeout(stalled)
        stalled = setTimeout(() => response.destroy(), STALL_MS)
        yield bytes.subarray(at, at + SLICE)
      }
      if (performance.now() - checkedAt < CHECK_EVERY_MS) continue
      await mayGoOn()
      checkedAt = performance.now()
    }
  }
  try {
    await pipeline(all, response)
  } finally {
    clearTimeout(stalled)
    await iterator.return?.()
  }
}

/**
 * Matches cells that spreadsheets run as a formula. Some spreadsheets skip leading white space and invisible
 * characters, and also accept full-width characters.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{DI}]*[=+\-@＝＋－＠])/u

/**
 * Returns a row of a CSV file according to RFC 4180. Cells that a spreadsheet would run as a formula begin with an
 * apostrophe.
 */
export function csvRow(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('\0', '')
  // A negative number is not a formula.
  const safe = FORMULA.test(text) && typeof value !== 'number' ? `'${text}` : text
  // In many countries, spreadsheets separate cells with semicolons.
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
