import { connect } from 'node:net'
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

/** Material for random requests. */
export interface FuzzMaterial {
  readonly paths: readonly string[]
  /** The cookie of a session that is over, as `name=value`, and its raw id. */
  readonly deadCookie: string
  readonly deadId: string
}

/** The bytes of one request, and after how many of them the sender cuts the connection; undefined means never. */
interface FuzzRequest {
  readonly bytes: Buffer
  readonly cutAfter: number | undefined
}

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']
const HEADERS = [
  'Accept',
  'Accept-Language',
  'Authorization',
  'Content-Type',
  'Cookie',
  'If-None-Match',
  'Origin',
  'Referer',
  'Sec-Fetch-Mode',
  'Sec-Fetch-Site',
  'User-Agent',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-HOST-Nonce',
  'X-HTTP-Method-Override',
  'X-Odd',
]
const VALUES = [
  '',
  'application/json',
  'text/html',
  'navigate',
  'cors',
  'null',
  'Basic YTpi',
  'Basic ',
  '*/*',
  '-1',
  '%',
  '[]',
]
const COOKIE_NAMES = ['a b', 'ü', '', '"', '__proto__', 'constructor', 'connect.sid', '__Host-a', 'a[]', ',', '=']

/** Creates a random request. The same source of numbers creates the same request. */
function fuzzRequest(random: () => number, material: FuzzMaterial): FuzzRequest {
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(from: readonly T[]) => from[below(from.length)] as T
  const one = (chances: number) => below(chances) === 0
  /** Mostly bytes that Node accepts in a header, sometimes any. */
  const noise = (length: number) =>
    String.fromCharCode(
      ...Array.from({ length: below(length) }, () =>
        one(400) ? below(256) : pick([9, 32 + below(95), 128 + below(128)]),
      ),
    )
  const cookie = () => {
    const odd = Array.from({ length: below(5) }, () => {
      const name = one(2) ? pick(COOKIE_NAMES) : noise(12)
      return `${name}=${one(2) ? `s:${material.deadId}.${noise(9)}` : one(2) ? `s%3A${material.deadId}.x` : noise(40)}`
    })
    if (!one(4)) odd.splice(below(odd.length + 1), 0, material.deadCookie)
    return odd.join(pick(['; ', ';', ' ; ', ', ']))
  }
  const value = (name: string) => {
    if (name === 'Cookie') return cookie()
    if (one(60)) return 'x'.repeat(below(20_000))
    return one(2) ? pick(VALUES) : noise(60)
  }
  const path = () => {
    const base = pick(material.paths)
    if (!one(4)) return base + (one(3) ? `?${noise(20).replaceAll(/[\s#]/g, '')}` : '')
    const odd = ['/%', '/%00', '//', '/..%2f..', `/${'a'.repeat(below(9000))}`, '/%ff', '/;', '/?%']
    return one(2) ? pick(odd) : base + pick(['%', '%00', '/', '/../', '%2e%2e', '?', '?a[b]=c&a=d', '%c3%28', '\x80'])
  }

  const names = ['Cookie', ...Array.from({ length: below(8) }, () => pick(HEADERS))]
  const body = one(3)
    ? noise(300)
    : pick(['', 'username=alice&password=secret', '{', '[]', '{"a":1}', 'a[b]=c', 'text=x'])
  const method = pick(METHODS)
  const lines = [
    `${method} ${path()} HTTP/1.${one(10) ? 0 : 1}`,
    'Host: 127.0.0.1',
    ...names.map((name) => `${one(60) ? `${name}${noise(3)}` : name}: ${value(name)}`),
    `Content-Length: ${method === 'GET' || method === 'HEAD' ? 0 : body.length}`,
    'Connection: close',
  ]
  const text = `${lines.join('\r\n')}\r\n\r\n${method === 'GET' || method === 'HEAD' ? '' : body}`
  const bytes = Buffer.from(text, 'latin1')
  return { bytes, cutAfter: one(3) ? below(bytes.length + 1) : undefined }
}
