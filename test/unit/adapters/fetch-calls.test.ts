import { describe, expect, it, onTestFinished } from 'vitest'
import type { HostRequest } from '../../../src/door/host-types.ts'
import { errorResponse, type FetchOptions, fetchCalls } from '../../../src/fetch.ts'
import { type Middleware, SessmgrError, type SessmgrOptions, sessmgr, tokenOf } from '../../../src/index.ts'

const SITE = 'https://app.test'
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140', accept: 'text/html' }

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

describe('fetchCalls', () => {
  it('takes address and user agent from the request', async () => {
    const { login } = start({}, { ip: (request) => request.headers.get('x-real-ip') })
    const admission = await login(get('/', { 'x-real-ip': '192.0.2.1' }), 'ada', 'one')
    expect(admission).toMatchObject({ session: { ip: '192.0.2.1', userAgent: BROWSER['user-agent'] } })
  })

  it('knows no address by itself, whatever the headers say', async () => {
    const { login } = start()
    const admission = await login(get('/', { 'x-forwarded-for': '192.0.2.1' }), 'ada', 'one')
    expect(admission).toMatchObject({ session: { ip: null } })
  })

  it('lets the login have its own address, device and replaced session', async () => {
    const { door, login, limiter } = start({ settings: { maximum: 2 } })
    await login(get(), 'ada', 'one')
    const request = get()
    await door.check(request, { userId: 'ada', sessionId: 'one' })
    const own = { userId: 'ada', ip: '192.0.2.9', userAgent: 'own', replaces: null }
    const admission = await door.login(request, own, async () => ({ sessionId: 'two', ttlMs: 60_000 }))
    expect(admission).toMatchObject({ session: { ip: '192.0.2.9', userAgent: 'own' } })
    expect((await limiter.sessions.end('ada', tokenOf('one'))) && 'both were registered').toBe('both were registered')
  })

  it('a new login of the same browser replaces its session', async () => {
    const { door, login, held } = start({ settings: { maximum: 2, logic: 'block' } })
    await login(get(), 'ada', 'one')
    await login(get(), 'ada', 'two')
    const request = get()
    await door.check(request, { userId: 'ada', sessionId: 'one' })
    expect(await login(request, 'ada', 'three')).toMatchObject({ admitted: true })
    expect([...held]).toEqual(['two', 'three'])
  })

  it('refuses a slow login whose session has ended since the check', async () => {
    const { door, login, limiter } = start({ settings: { maximum: 2 } })
    await login(get(), 'ada', 'one')
    const request = get()
    await door.check(request, { userId: 'ada', sessionId: 'one' })
    await limiter.sessions.endAll('ada')
    await expect(login(request, 'ada', 'two')).rejects.toMatchObject({ code: 'session_ended' })
  })

  it('identifies the caller by the last call for the same request only', async () => {
    const { door, login } = start()
    const request = get()
    expect(await door.nonce(request)).toBeUndefined()
    await login(request, 'ada', 'one')
    expect(await door.nonce(request)).toEqual(expect.any(String))
    expect(await door.nonce(request.clone())).toBeUndefined()
    await door.missing(request, { sessionId: 'none' })
    expect(await door.nonce(request)).toBeUndefined()
  })

  it('records that the user of a request has confirmed their identity', async () => {
    const { limiter, door, login, held } = start({ settings: { maximum: 2 } })
    const page = door.serve('/devices', limiter.account({ stepUp: { url: '/confirm' } }))
    await login(get(), 'ada', 'other')
    // A login has just proved who is there; a session from before sessmgr has not.
    held.add('one')
    await door.adopt({ userId: 'ada', sessionId: 'one', ttlMs: 60_000 })
    const request = get('/devices')
    await door.check(request, { userId: 'ada', sessionId: 'one' })
    const form = new URLSearchParams(
      [...((await (await page(request))?.text()) ?? '').matchAll(/name="(\w+)" value="([^"]*)"/g)].map(
        ([, ...it]) => it,
      ),
    )
    const submit = async () => {
      const sent = post('/devices', String(form), { origin: SITE })
      await door.check(sent, { userId: 'ada', sessionId: 'one' })
      await page(sent)
      return limiter.sessions.count('ada')
    }
    expect(await submit()).toBe(2)
    await expect(door.reauthenticated(get())).rejects.toMatchObject({ code: 'session_ended' })
    await door.reauthenticated(request)
    expect(await submit()).toBe(1)
  })

  it.each([
    ['https://app.test/', {}, ['__Host-sessmgr_device']],
    ['http://app.test/', {}, ['sessmgr_device']],
    ['http://app.test/', { 'x-forwarded-proto': 'https' }, ['__Host-sessmgr_device']],
  ])('sends the device cookie of a login to %s with %o', async (url, headers, names) => {
    const { door, login } = start({ device: true })
    const request = new Request(url, { headers })
    expect(namesOf({ headers: door.headers(request) })).toEqual([])
    await login(request, 'ada', 'one')
    expect(namesOf({ headers: door.headers(request) })).toEqual(names)
    expect(namesOf({ headers: door.headers(request) })).toEqual([])
  })

  it('recognizes the browser by its device cookie', async () => {
    const { door, login } = start({ device: true, settings: { maximum: 3 } })
    const request = get()
    const one = await login(request, 'ada', 'one')
    const [cookie = ''] = door.headers(request).getSetCookie()
    const two = await login(get('/', { cookie: cookie.split(';', 1)[0] ?? '' }), 'ada', 'two')
    const other = await login(get(), 'ada', 'three')
    const [first, second, third] = [one, two, other].map((it) => it.admitted && it.session.device)
    expect(first).toEqual(expect.any(String))
    expect([second === first, third === first]).toEqual([true, false])
  })

  it('keeps the notice for a signed-out user until a page shows it, once', async () => {
    const { door, login } = start({ settings: { maximum: 1, logic: 'logout_oldest' } })
    await login(get(), 'ada', 'one')
    await login(get(), 'ada', 'two')
    const request = get('/', { cookie: 'sid=one' })
    expect(await door.missing(request, { sessionId: 'one' })).toMatchObject({ ended: { cause: { kind: 'displaced' } } })
    const [kept = ''] = door.headers(request).getSetCookie()
    expect(kept).toMatch(`__Host-sessmgr_notice=${tokenOf('one')};`)
    expect(namesOf({ headers: door.headers(request) })).toEqual([])

    const page = get('/login', { cookie: kept.split(';', 1)[0] ?? '' })
    expect(await door.notice(page)).toMatchObject({ reason: 'missing', cause: { device: 'Chrome on Linux' } })
    const ofShown = expect.stringMatching(`^__Host-sessmgr_notice=${tokenOf('one')}\\.\\d+;`)
    expect(door.headers(page).getSetCookie()).toEqual([ofShown])

    const shown = get('/', { cookie: 'sid=one' })
    await door.missing(shown, { sessionId: 'one' })
    expect(await door.notice(shown)).toMatchObject({ title: expect.any(String) })
    expect(door.headers(shown).getSetCookie()).toEqual([ofShown])
    expect(await door.notice(get())).toBeUndefined()
  })

  it('decision 71: reports an ended session on every request, and looks its reason up until it was shown for ten minutes', async () => {
    const { door, login } = start({ settings: { maximum: 1, logic: 'logout_oldest' } })
    await login(get(), 'ada', 'one')
    await login(get(), 'ada', 'two')
    const ask = async (shownForMs: number) => {
      const notice = `${tokenOf('one')}.${Math.floor((Date.now() - shownForMs) / 1000)}`
      const request = get('/', { cookie: `sid=one; __Host-sessmgr_notice=${notice}` })
      const state = await door.missing(request, { sessionId: 'one' })
      return [state, await door.notice(request), door.headers(request).getSetCookie()]
    }
    const cause = { kind: 'displaced' }
    for (let request = 0; request < 2; request++) {
      expect(await ask(9 * 60_000)).toMatchObject([{ ended: { reason: 'missing', cause } }, { cause }, []])
      expect(await ask(11 * 60_000)).toEqual([{ ended: { reason: 'missing' } }, undefined, []])
    }
  })

  it('a login forgets the notice', async () => {
    const { door, login } = start({ settings: { maximum: 1, logic: 'logout_oldest' } })
    await login(get(), 'ada', 'one')
    await login(get(), 'ada', 'two')
    const request = get()
    await door.missing(request, { sessionId: 'one' })
    const [kept = ''] = door.headers(request).getSetCookie()
    const again = get('/', { cookie: kept.split(';', 1)[0] ?? '' })
    await door.missing(again, { sessionId: 'one' })
    await login(again, 'ada', 'three')
    expect(door.headers(again).getSetCookie()).toEqual([expect.stringMatching(/^__Host-sessmgr_notice=;.*1970/)])
  })

  it.each([
    [{ ip: '127.0.0.1' }, '"ip" must be a function'],
    [{ origin: 'app.test' }, '"origin" must look like'],
    [{ origin: 'https://app.test/' }, '"origin" must look like'],
  ])('refuses %o', (options, message) => {
    expect(() => start({}, options as never)).toThrow(message)
  })

  it.each([{}, undefined, { url: '/', headers: {} }, 'request'])('refuses %o as a request', async (request) => {
    const { door } = start()
    await expect(door.check(request as never, { userId: 'ada', sessionId: 'one' })).rejects.toThrow('must be a Request')
  })
})

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

  it.each([
    ['/devices', '/devices', '/'],
    ['/devices', '/devices?x', '/?x'],
    ['/devices', '/devices/', '/'],
    ['/devices', '/devices//evil.test', '//evil.test'],
    ['/devices', '/a/../devices', '/'],
    ['', '/any', '/any'],
    ['/geräte', '/ger%C3%A4te/x', '/x'],
    ['/.well-known/a..b', '/.well-known/a..b/x', '/x'],
    ['/my devices', '/my%20devices/x', '/x'],
  ])('under %j, %s is %s', async (path, asked, url) => {
    const { door } = start()
    expect(await read(await door.serve(path, echo)(get(asked)))).toMatchObject({ url })
  })

  it.each(['/', '/device', '/devicesx', '/%64evices', '/devices/../x', '/devices/%2e%2e/x', '//devices', '/Devices'])(
    '%s is not below /devices',
    async (asked) => {
      const { door } = start()
      expect(await door.serve('/devices', echo)(get(asked))).toBeUndefined()
    },
  )

  const empty = ['//x', '/a//b', '/a/']
  const dots = ['/..', '/a/./b', '/a/%2E%2e', '/.', '/.%2e/a']
  const unread = ['/devices?x', '/devices#x', '/a\r\nb', '/a\tb', '/a\0', '/a\\b', 'devices', 'http://evil.test/a']
  it.each([...empty, ...dots, ...unread])('refuses the path %j', (path) => {
    expect(() => start().door.serve(path, echo)).toThrow('The path of serve() must look like "/devices"')
  })

  it('uses the origin of the site instead of that of the request', async () => {
    const { door } = start({}, { origin: 'https://site.test:8443' })
    const answer = await door.serve('', echo)(new Request('http://10.0.0.1:3000/x'))
    expect(await read(answer)).toMatchObject({ host: 'site.test:8443', encrypted: true })
  })

  it('without it, takes the host from the header, as Express does', async () => {
    const { door } = start()
    const request = new Request('http://machine:3000/x', { headers: { host: 'app.test' } })
    expect(await read(await door.serve('', echo)(request))).toMatchObject({ host: 'app.test', encrypted: false })
  })

  it('keeps cookies apart, and adds those of the calls once', async () => {
    const { door, login } = start({ device: true })
    const request = get()
    await login(request, 'ada', 'one')
    const answer = (await door.serve('', echo)(request)) as Response
    expect(namesOf(answer)).toEqual(['a', 'b', '__Host-sessmgr_device'])
    expect(namesOf({ headers: door.headers(request) })).toEqual([])
  })

  it.each([204, 205, 304])('a response with status %i has no body', async (status) => {
    const answer = await start().door.serve('', echo)(get('/', { 'x-status': String(status) }))
    expect([answer?.status, answer?.body]).toEqual([status, null])
  })

  it('a response to HEAD has no body', async () => {
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

  it('rejects with the error of the middleware, which has a response', async () => {
    const error = await start()
      .door.serve(
        '',
        echo,
      )(get('/fails'))
      .catch((thrown) => thrown)
    const answer = errorResponse(error)
    expect([answer?.status, answer?.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await read(answer)).toMatchObject({ code: 'store_unavailable', message: 'The store is away.' })
  })
})

describe('errorResponse', () => {
  it('hides the message of a mistake of the application, and knows no other errors', async () => {
    const answer = errorResponse(new SessmgrError('invalid_option', 'secret'))
    expect(await answer?.text()).not.toContain('secret')
    expect(answer?.status).toBe(500)
    expect(errorResponse(new Error('other'))).toBeUndefined()
  })
})
