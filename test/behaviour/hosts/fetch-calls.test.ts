import { HonoRequest } from 'hono/request'
import { describe, expect, it, onTestFinished } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { type FetchOptions, type FetchRequest, fetchCalls } from '../../../src/fetch.ts'
import { type Middleware, type SessmgrOptions, sessmgr, tokenOf } from '../../../src/index.ts'

const SITE = 'https://app.test'
const ttlMs = 60_000
const endless = { maximum: 2, logic: 'block' } as const

/** A door over a set of session ids. */
function start(options: SessmgrOptions = {}, fetchOptions: FetchOptions = {}) {
  const warnings: string[] = []
  const logger = { warn: (text: string) => void warnings.push(text), error() {} }
  const limiter = sessmgr({ logger, ...options })
  onTestFinished(() => limiter.close())
  const held = new Set<string>()
  const stores = { exists: (id: string) => held.has(id), destroy: (id: string) => held.delete(id) }
  const door = fetchCalls(limiter, { ...stores, ...fetchOptions })
  const login = (request: FetchRequest, userId: string, sessionId: string, meanwhile?: () => unknown) =>
    door.login(request, { userId }, async () => {
      held.add(sessionId)
      await meanwhile?.()
      return { sessionId, ttlMs }
    })
  return { limiter, door, held, stores, login, warnings }
}

const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140', accept: 'text/html' }
const get = (path = '/', headers: Record<string, string> = {}, more: RequestInit = {}) =>
  new Request(SITE + path, { headers: { ...BROWSER, ...headers }, ...more })
const post = (path: string, body: string, headers: Record<string, string>) =>
  get(path, { 'content-type': 'application/x-www-form-urlencoded', ...headers }, { method: 'POST', body })
const ada = (sessionId: string) => ({ userId: 'ada', sessionId })
const SESSION_ENDED = { code: 'session_ended' }

describe('a request that is held until its session has ended', () => {
  it('cannot sign in again after a later call, in which it is over', async () => {
    for (const later of ['check', 'missing'] as const) {
      const { door, login, limiter } = start()
      await login(get(), 'ada', 'one')
      const request = get()
      await door.check(request, ada('one'))
      await limiter.sessions.endAll('ada')
      expect(await door[later](request, ada('one'))).toMatchObject({ ended: {} })
      await expect(login(request, 'ada', 'two')).rejects.toMatchObject(SESSION_ENDED)
      const state = await door.check(request, ada('one'))
      const withState = door.login(request, { userId: 'ada', state }, async () => ({ ...ada('two'), ttlMs }))
      await expect(withState).rejects.toMatchObject(SESSION_ENDED)
      expect(await limiter.sessions.count('ada'), later).toBe(0)
    }
  })

  it('may sign in another user, and one whose session was over from the start signs in', async () => {
    const { door, login, limiter } = start()
    await login(get(), 'ada', 'one')
    const [held, late] = [get(), get()]
    await door.check(held, ada('one'))
    await limiter.sessions.endAll('ada')
    await door.check(held, ada('one'))
    await door.check(late, ada('one'))
    expect(await login(held, 'bob', 'two')).toMatchObject({ admitted: true })
    expect(await login(late, 'ada', 'three')).toMatchObject({ admitted: true })
  })

  it('cannot sign in again with explicit calls either, which know it by its request', async () => {
    for (const later of ['check', 'missing'] as const) {
      const { stores, limiter, login, held } = start()
      const calls = explicitCalls(limiter, stores)
      await login(get(), 'ada', 'one')
      const request = {} as never
      await calls.check({ ...ada('one'), request })
      await limiter.sessions.endAll('ada')
      const state = await calls[later]({ ...ada('one'), request })
      expect(state).toEqual({ ended: expect.anything() })
      const create = async () => ({ sessionId: 'two', ttlMs })
      await expect(calls.login({ userId: 'ada', state }, create)).rejects.toMatchObject(SESSION_ENDED)
      expect(await calls.login({ userId: 'bob', state }, create)).toMatchObject({ admitted: true })
      expect([...held]).toEqual([])
    }
  })
})

describe('a request that signs its user out and in again', () => {
  it('is admitted if it ended the session itself', async () => {
    const { door, login, limiter } = start({ settings: { maximum: 1, logic: 'block' } })
    await login(get(), 'ada', 'one')
    const request = get()
    await door.check(request, ada('one'))
    await door.logout({ ...ada('one'), request })
    expect(await door.nonce(request)).toBeUndefined()
    expect(await login(request, 'ada', 'two')).toMatchObject({ admitted: true })
    expect(await limiter.sessions.count('ada')).toBe(1)
  })

  it('is refused if the session was over before, or another request ended it', async () => {
    const { door, login, limiter } = start()
    await login(get(), 'ada', 'one')
    const [request, other] = [get(), get()]
    await door.check(request, ada('one'))
    await door.check(other, ada('one'))
    await limiter.sessions.endAll('ada')
    await door.logout({ ...ada('one'), request })
    await door.logout({ ...ada('one'), request: get() })
    await expect(login(request, 'ada', 'two')).rejects.toMatchObject(SESSION_ENDED)
    await expect(login(other, 'ada', 'two')).rejects.toMatchObject(SESSION_ENDED)
    await expect(door.logout({ userId: 'ada', sessionId: '' })).rejects.toMatchObject({ code: 'invalid_option' })
  })
})

it("follows Hono's request if middleware replaces the one below it", async () => {
  const { door, login, limiter } = start({ settings: endless }, { ip: (request) => request.headers.get('x-real-ip') })
  await login(get(), 'ada', 'one')
  const own = new HonoRequest(get('/', { 'x-real-ip': '192.0.2.1' }))
  await door.check(own, ada('one'))
  own.raw = new Request(own.raw, { method: 'POST', body: 'a=b' })
  const echo: Middleware = (request, response) => void request.on('data', (part) => response.end(part))
  expect(await (await door.serve('', echo)(own))?.text()).toBe('a=b')
  const admission = await login(own, 'ada', 'two')
  expect(admission).toMatchObject({ session: { ip: '192.0.2.1' } })
  expect(await limiter.sessions.count('ada')).toBe(1)
  expect(await door.nonce(own)).toEqual(expect.any(String))
  expect(await door.nonce(own.raw)).toBeUndefined()
})

it('a refused login as JSON is the response of the choice page, without addresses', async () => {
  const { limiter, login } = start({ settings: { maximum: 1, logic: 'ask' } }, { ip: () => '192.0.2.1' })
  limiter.choice({ secretInBody: true, complete: () => {} })
  await login(get(), 'ada', 'one')
  const admission = await login(get(), 'ada', 'two')
  expect(admission).toMatchObject({ admitted: false, choice: { sessions: [{ ip: '192.0.2.1' }] } })
  const json = JSON.stringify(admission)
  expect(JSON.parse(json)).toEqual({
    admitted: false,
    code: 'login_choice_required',
    message: expect.any(String),
    data: expect.objectContaining({ status: 409, need: 1, pending: expect.any(String), sessions: [expect.anything()] }),
  })
  expect(json).not.toContain('192.0.2.1')
})

describe('fetchCalls', () => {
  it('takes user agent, and address by its option alone, from the request, unless the login has them', async () => {
    const { door, login, limiter } = start({ settings: endless }, { ip: (request) => request.headers.get('x-real-ip') })
    const headers = { ...BROWSER, 'x-real-ip': '192.0.2.1' }
    const userAgent = BROWSER['user-agent']
    expect(await login(get('/', headers), 'ada', 'one')).toMatchObject({ session: { ip: '192.0.2.1', userAgent } })
    const request = get('/', headers)
    await door.check(request, ada('one'))
    const own = { userId: 'ada', ip: '192.0.2.9', userAgent: 'own', replaces: null }
    const admission = await door.login(request, own, async () => ({ sessionId: 'two', ttlMs }))
    expect(admission).toMatchObject({ session: { ip: '192.0.2.9', userAgent: 'own' } })
    expect(await limiter.sessions.end('ada', tokenOf('one'))).toBe(true)
    const unknown = await start().login(get('/', { 'x-forwarded-for': '192.0.2.1' }), 'ada', 'one')
    expect(unknown).toMatchObject({ session: { ip: null } })
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

  it('sends the device cookie of a login once, and recognizes the browser by it', async () => {
    const { door, login } = start({ device: true, settings: { maximum: 5 } })
    const devices: unknown[] = []
    const logIn = async (url: string, headers: Record<string, string>) => {
      const request = new Request(url, { headers })
      const admission = await login(request, 'ada', `session ${devices.length}`)
      devices.push(admission.admitted && admission.session.device)
      const [cookie = ''] = door.headers(request).getSetCookie()
      expect(door.headers(request).getSetCookie()).toEqual([])
      return cookie.split(';', 1)[0] ?? ''
    }
    const cookie = await logIn('https://app.test/', {})
    expect(cookie).toMatch(/^__Host-sessmgr_device=/)
    expect(await logIn('http://app.test/', { 'x-forwarded-proto': 'https', cookie })).toBe(cookie)
    expect(await logIn('http://app.test/', {})).toMatch(/^sessmgr_device=/)
    expect(devices).toEqual([expect.any(String), devices[0], expect.any(String)])
    expect(devices[2]).not.toBe(devices[0])
  })

  it('keeps the notice for a signed-out user until a page shows it, once', async () => {
    const { door, login } = start({ settings: { maximum: 1, logic: 'logout_oldest' } })
    await login(get(), 'ada', 'one')
    await login(get(), 'ada', 'two')
    const request = get('/', { cookie: 'sid=one' })
    expect(await door.missing(request, { sessionId: 'one' })).toMatchObject({ ended: { cause: { kind: 'displaced' } } })
    const [kept = ''] = door.headers(request).getSetCookie()
    expect(kept).toMatch(`__Host-sessmgr_notice=${tokenOf('one')};`)
    expect(door.headers(request).getSetCookie()).toEqual([])

    const page = get('/login', { cookie: kept.split(';', 1)[0] ?? '' })
    expect(await door.notice(page)).toMatchObject({ reason: 'missing', cause: { device: 'Chrome on Linux' } })
    const ofShown = expect.stringMatching(`^__Host-sessmgr_notice=${tokenOf('one')}\\.\\d+;`)
    expect(door.headers(page).getSetCookie()).toEqual([ofShown])

    const shown = get('/', { cookie: 'sid=one' })
    await door.missing(shown, { sessionId: 'one' })
    expect(await door.notice(shown)).toMatchObject({ title: expect.any(String) })
    expect(door.headers(shown).getSetCookie()).toEqual([ofShown])
    expect(await door.notice(get())).toBeUndefined()
    await login(page, 'ada', 'three')
    expect(door.headers(page).getSetCookie()).toEqual([expect.stringMatching(/^__Host-sessmgr_notice=;.*1970/)])
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

  it('refuses wrong options, and what is no request', async () => {
    for (const [options, message] of [
      [{ ip: '127.0.0.1' }, '"ip" must be a function'],
      [{ origin: 'app.test' }, '"origin" must look like'],
      [{ origin: 'https://app.test/' }, '"origin" must look like'],
    ] as const) {
      expect(() => start({}, options as never)).toThrow(message)
    }
    const { door } = start()
    for (const request of [{}, undefined, { url: '/', headers: {} }, 'request']) {
      await expect(door.check(request as never, ada('one'))).rejects.toThrow('must be a Request')
    }
  })
})
