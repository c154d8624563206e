import { pipeline } from 'node:stream/promises'
import type { HostResponse } from '../../guard/host-types.ts'

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

/**
 * Sends a download, as fast as the client reads it. If creating it fails later than at the first chunk, the connection
 * is closed, so that the client does not take the file for complete.
 */
export async function sendDownload(
  response: HostResponse,
  { name, type, chunks }: RestDownload,
  isHead: boolean,
): Promise<void> {
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
  async function* all() {
    yield first.value as string
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  await pipeline(all, response)
}
