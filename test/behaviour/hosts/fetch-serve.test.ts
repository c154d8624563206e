import { describe, expect, it, onTestFinished } from 'vitest'
import type { HostRequest } from '../../../src/door/host-types.ts'
import { errorResponse, type FetchOptions, fetchCalls } from '../../../src/fetch.ts'
import { type Middleware, SessmgrError, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { deferred } from '../../support/deferred.ts'

const SITE = 'https://app.test'
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140', accept: 'text/html' }

const ADA = { userId: 'ada', sessionId: 'one' }

/** A door over a set of session ids. */
function start(options: SessmgrOptions = {}, fetchOptions: FetchOptions = {}, held = new Set<string>()) {
  const logger = { warn() {}, error() {} }
  const limiter = sessmgr({ logger, ...options })
  onTestFinished(() => limiter.close())
  const stores = { exists: (id: string) => held.has(id), destroy: (id: string) => held.delete(id) }
  const door = fetchCalls(limiter, { ...stores, ...fetchOptions })
  const login = (request: Request, userId: string, sessionId: string) =>
    door.login(request, { userId }, async () => {
      held.add(sessionId)
      return { sessionId, ttlMs: 60_000 }
    })
  return { limiter, door, held, login }
}

const get = (path = '/', headers: Record<string, string> = {}, more: RequestInit = {}) =>
  new Request(SITE + path, { headers: { ...BROWSER, ...headers }, ...more })
const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  get(path, { 'content-type': 'application/x-www-form-urlencoded', ...headers }, { method: 'POST', body })
const namesOf = ({ headers }: { headers: Headers }) => headers.getSetCookie().map((cookie) => cookie.split('=', 1)[0])

describe('serve', () => {
  const echo: Middleware = (request, response, next) => {
    const { url, originalUrl, baseUrl, method, headers, ip } = request as never as HostRequest
    if (url === '/not-mine') return next()
    if (url === '/fails') return next(new SessmgrError('store_unavailable', 'The store is away.'))
    const { encrypted } = request.socket as { encrypted?: boolean }
    const { host } = headers
    response.setHeader('Set-Cookie', ['a=1', 'b=2'])
    response.statusCode = Number(headers['x-status'] ?? 200)
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('error', next)
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      response.end(JSON.stringify({ url, originalUrl, baseUrl, method, host, ip, encrypted, body }))
    })
  }
  const read = async (response: Response | undefined) => JSON.parse((await response?.text()) ?? '')

  it("passes Node's request, relative to the path", async () => {
    const { door } = start({}, { ip: () => '192.0.2.1' })
    const answer = await door.serve('/own/path', echo)(post('/own/path/more?x=1', 'a=b'))
    expect(await read(answer)).toEqual({
      url: '/more?x=1',
      originalUrl: '/own/path/more?x=1',
      baseUrl: '/own/path',
      method: 'POST',
      host: 'app.test',
      ip: '192.0.2.1',
      encrypted: true,
      body: 'a=b',
    })
  })

  it('serves what is below its path, spelled in any way that URLs allow, and nothing else', async () => {
    const below = [
      ['/devices', '/devices', '/'],
      ['/devices', '/devices?x', '/?x'],
      ['/devices', '/devices/', '/'],
      ['/devices', '/devices//evil.test', '//evil.test'],
      ['/devices', '/a/../devices', '/'],
      ['', '/any', '/any'],
      ['/geräte', '/ger%C3%A4te/x', '/x'],
      ['/.well-known/a..b', '/.well-known/a..b/x', '/x'],
      ['/my devices', '/my%20devices/x', '/x'],
    ] as const
    for (const [path, asked, url] of below) {
      expect(await read(await start().door.serve(path, echo)(get(asked))), asked).toMatchObject({ url })
    }
    const others = ['/', '/device', '/devicesx', '/%64evices', '/devices/../x', '/devices/%2e%2e/x', '//devices']
    for (const asked of [...others, '/Devices']) {
      expect(await start().door.serve('/devices', echo)(get(asked)), asked).toBeUndefined()
    }
    const empty = ['//x', '/a//b', '/a/']
    const dots = ['/..', '/a/./b', '/a/%2E%2e', '/.', '/.%2e/a']
    const unread = ['/devices?x', '/devices#x', '/a\r\nb', '/a\tb', '/a\0', '/a\\b', 'devices', 'http://evil.test/a']
    const message = 'The path of serve() must look like "/devices"'
    for (const path of [...empty, ...dots, ...unread]) {
      expect(() => start().door.serve(path, echo), path).toThrow(message)
    }
  })

  it('takes the host from the origin of the site, or else from the header, as Express does', async () => {
    const own = start({}, { origin: 'https://site.test:8443' }).door.serve('', echo)
    const answer = await own(new Request('http://10.0.0.1:3000/x'))
    expect(await read(answer)).toMatchObject({ host: 'site.test:8443', encrypted: true })
    const request = new Request('http://machine:3000/x', { headers: { host: 'app.test' } })
    const without = await start().door.serve('', echo)(request)
    expect(await read(without)).toMatchObject({ host: 'app.test', encrypted: false })
  })

  it('keeps cookies apart, and adds those of the calls once', async () => {
    const { door, login } = start({ device: true })
    const request = get()
    await login(request, 'ada', 'one')
    const answer = (await door.serve('', echo)(request)) as Response
    expect(namesOf(answer)).toEqual(['a', 'b', '__Host-sessmgr_device'])
    expect(namesOf({ headers: door.headers(request) })).toEqual([])
  })

  it('a response with status 204, 205 or 304 has no body, nor has one to HEAD', async () => {
    for (const status of [204, 205, 304]) {
      const answer = await start().door.serve('', echo)(get('/', { 'x-status': String(status) }))
      expect([answer?.status, answer?.body]).toEqual([status, null])
    }
    const answer = await start().door.serve('', echo)(get('/', {}, { method: 'HEAD' }))
    expect([answer?.status, await answer?.text()]).toEqual([200, ''])
  })

  it('leaves the body to the application if the path is its own', async () => {
    const request = post('/not-mine', 'a=b')
    expect(await start().door.serve('', echo)(request)).toBeUndefined()
    expect(await request.text()).toBe('a=b')
  })

  it('refuses a body that was read, by the application or by itself', async () => {
    const { door } = start()
    const message = "The request's body was already read"
    const request = post('/', 'a=b')
    await request.text()
    await expect(door.serve('', echo)(request)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(message),
    })
    const other = post('/', 'a=b')
    await door.serve('', echo)(other)
    await expect(door.serve('', echo)(other)).rejects.toThrow(message)
    const locked = post('/', 'a=b')
    locked.body?.getReader()
    await expect(door.serve('', echo)(locked)).rejects.toThrow(message)
  })

  it('a request that is aborted while its body arrives is over', async () => {
    const abort = new AbortController()
    const body = new ReadableStream({ pull: () => new Promise(() => {}) })
    const request = get('/', {}, { method: 'POST', body, duplex: 'half', signal: abort.signal } as RequestInit)
    const answering = start().door.serve('', echo)(request)
    setTimeout(() => abort.abort(), 20)
    await expect(answering).rejects.toThrow('abort')
  })

  it('a client that stops reading stops what is written', async () => {
    let closed = false
    const endless: Middleware = (_request, response) => {
      response.once('close', () => {
        closed = true
      })
      response.write('first')
    }
    const abort = new AbortController()
    const [one, two] = await Promise.all([
      start().door.serve('', endless)(get('/', {}, { signal: abort.signal })),
      start().door.serve('', endless)(get()),
    ])
    const reader = one?.body?.getReader()
    expect(String(Buffer.from((await reader?.read())?.value ?? []))).toBe('first')
    abort.abort()
    await expect(reader?.read()).rejects.toThrow('abort')
    await expect.poll(() => closed).toBe(true)
    closed = false
    await two?.body?.cancel()
    await expect.poll(() => closed).toBe(true)
  })

  it('rejects if what is written fails at once, because its start would look complete', async () => {
    const failing: Middleware = (_request, response) => {
      response.write('first')
      response.destroy(new Error('The disk is full.'))
    }
    await expect(start().door.serve('', failing)(get())).rejects.toThrow('The disk is full.')
  })

  it('rejects with the error of the middleware, which has a response without a message for developers', async () => {
    const failing = start().door.serve('', echo)
    const answer = errorResponse(await failing(get('/fails')).catch((thrown) => thrown))
    expect([answer?.status, answer?.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await read(answer)).toMatchObject({ code: 'store_unavailable', message: 'The store is away.' })
    const mistake = errorResponse(new SessmgrError('invalid_option', 'secret'))
    expect([mistake?.status, (await mistake?.text())?.includes('secret')]).toEqual([500, false])
    expect(errorResponse(new Error('other'))).toBeUndefined()
  })
})

it('sends no cookie with or after a public response, and none of it later', async () => {
  const { door, login } = start({ device: true })
  const style: Middleware = (_request, response) => {
    response.setHeader('Cache-Control', 'public, max-age=60')
    response.end('a {}')
  }
  const request = get('/style.css')
  await login(request, 'ada', 'one')
  const answer = await door.serve('', style)(request)
  expect([answer?.headers.getSetCookie(), door.headers(request).getSetCookie()]).toEqual([[], []])
})

it('a body without end is cancelled after its response', async () => {
  for (const kind of ['paced', 'synchronous']) {
    const { door } = start()
    const cancelled = deferred()
    let read = 0
    const body = new ReadableStream({
      async pull(controller) {
        if (kind === 'paced') await new Promise((resolve) => setTimeout(resolve, 1))
        read += 65_536
        if (read > 100_000_000) throw new Error('It was read on.')
        controller.enqueue(new Uint8Array(65_536))
      },
      cancel: () => cancelled.resolve(),
    })
    const reads: Middleware = (request, response) => {
      let size = 0
      request.on('data', (part: Buffer) => {
        size += part.length
        if (size <= 100_000) return
        response.statusCode = 413
        response.end()
      })
    }
    const request = get('/', {}, { method: 'POST', body, duplex: 'half' } as RequestInit)
    expect((await door.serve('', reads)(request))?.status).toBe(413)
    await cancelled.promise
    expect(read).toBeLessThan(2_000_000)
  }
})

it('the origin of the site includes its protocol', async () => {
  const { limiter, door, login } = start({ settings: { maximum: 3 } }, { origin: SITE })
  const devices = door.serve('/devices', limiter.account())
  for (const id of ['one', 'two']) await login(get(), 'ada', id)
  const page = get('/devices')
  await door.check(page, ADA)
  const text = (await (await devices(page))?.text()) ?? ''
  const [proof = '', end = ''] = [/name="proof" value="([^"]+)"/, /name="end" value="(\w+)"/].map(
    (it) => it.exec(text)?.[1],
  )
  const send = async (origin: string) => {
    const body = new URLSearchParams({ proof, end })
    const request = new Request('http://10.0.0.1/devices', { method: 'POST', headers: { origin }, body })
    await door.check(request, ADA)
    return (await devices(request))?.status
  }
  expect([await send('http://app.test'), await send('https://evil.test'), await send(SITE)]).toEqual([403, 403, 303])
})
