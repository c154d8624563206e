/** Material for random requests. */
export interface FuzzMaterial {
  readonly paths: readonly string[]
  /** The cookie of a session that is over, as `name=value`, and its raw id. */
  readonly deadCookie: string
  readonly deadId: string
}

/** The bytes of one request, and after how many of them the sender cuts the connection; undefined means never. */
export interface FuzzRequest {
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
export function fuzzRequest(random: () => number, material: FuzzMaterial): FuzzRequest {
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
