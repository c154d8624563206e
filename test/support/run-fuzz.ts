import { connect } from 'node:net'
import { type FuzzMaterial, type FuzzRequest, fuzzRequest } from './fuzz-request.ts'
import { inParallel } from './in-parallel.ts'
import { seededRandom } from './seeded-random.ts'

/** An application to be fuzzed. */
export interface FuzzTarget extends FuzzMaterial {
  readonly origin: string
}

/** The results of the requests. The lists contain the seeds of failed requests, so that they can be repeated. */
export interface FuzzResult {
  readonly requests: number
  readonly cut: number
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>
  readonly failures: readonly string[]
}

/** A response takes a few milliseconds, but the machine may be busy. */
const PATIENCE_MS = 30_000

/** Sends random requests, each from its own seed: `seed`, `seed + 1` and so on. */
export async function runFuzz(target: FuzzTarget, seed: number, requests: number): Promise<FuzzResult> {
  const statuses: Record<string, number> = {}
  const failures: string[] = []
  let cut = 0
  await inParallel(requests, 16, async (index) => {
    const request = fuzzRequest(seededRandom(seed + index), target)
    const outcome = await send(target.origin, request)
    if (request.cutAfter !== undefined) {
      cut += 1
      return
    }
    statuses[outcome] = (statuses[outcome] ?? 0) + 1
    // Node rejects headers above 16 KiB, and may close the connection without a response.
    const isTooLong = outcome === 'closed' && request.bytes.length > 16_000
    if (/^[1234]\d\d$/.test(outcome) || isTooLong) return
    failures.push(`seed ${seed + index}: ${outcome}: ${JSON.stringify(request.bytes.toString('latin1').slice(0, 600))}`)
  })
  return { requests, cut, statuses, failures }
}

/** Sends the bytes and reports the status, `closed` for a connection that ends without one, or `unanswered`. */
function send(origin: string, { bytes, cutAfter }: FuzzRequest): Promise<string> {
  const { hostname, port } = new URL(origin)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    let head = ''
    let isOver = false
    const giveUp = setTimeout(() => socket.destroy(), PATIENCE_MS)
    socket.on('data', (part) => {
      head += head.length < 20 ? part.toString('latin1') : ''
    })
    socket.on('end', () => {
      isOver = true
    })
    socket.on('error', () => {
      isOver = true
    })
    socket.on('close', () => {
      clearTimeout(giveUp)
      const status = /^HTTP\/1\.\d (\d{3})/.exec(head)?.[1]
      resolve(isOver ? (status ?? 'closed') : 'unanswered')
    })
    socket.on('connect', () => {
      if (cutAfter === undefined) return socket.write(bytes)
      isOver = true
      socket.write(bytes.subarray(0, cutAfter), () =>
        cutAfter % 2 === 0 ? socket.destroy() : socket.resetAndDestroy(),
      )
    })
  })
}
