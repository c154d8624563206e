import { HonoRequest } from 'hono/request'
import { describe, expect, it, onTestFinished } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { type FetchOptions, type FetchRequest, fetchCalls } from '../../../src/fetch.ts'
import { type Middleware, type SessmgrOptions, sessmgr } from '../../../src/index.ts'
import { deferred } from '../../support/deferred.ts'

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

const get = (path = '/', init: RequestInit = {}) => new Request(SITE + path, init)
const ada = (sessionId: string) => ({ userId: 'ada', sessionId })
const SESSION_ENDED = { code: 'session_ended' }

describe('a request that is held until its session has ended', () => {
  it.each(['check', 'missing'] as const)(
    'cannot sign in again after a later %s, in which it is over',
    async (later) => {
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
      expect(await limiter.sessions.count('ada')).toBe(0)
    },
  )

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

  it.each(['check', 'missing'] as const)('nor with explicit calls, which know it by its request: %s', async (later) => {
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

describe('a login in the browser of another user', () => {
  it("ends that user's session", async () => {
    const { door, login, limiter, held } = start()
    await login(get(), 'bob', 'one')
    const request = get()
    await door.check(request, { userId: 'bob', sessionId: 'one' })
    await login(request, 'ada', 'two')
    expect([[...held], await limiter.sessions.count('bob'), await limiter.sessions.count('ada')]).toEqual([
      ['two'],
      0,
      1,
    ])
  })

  it('but keeps it if the login is refused', async () => {
    const { door, login, limiter, held } = start({ settings: { maximum: 1, logic: 'block' } })
    await login(get(), 'bob', 'one')
    await login(get(), 'ada', 'two')
    const request = get()
    await door.check(request, { userId: 'bob', sessionId: 'one' })
    expect(await login(request, 'ada', 'three')).toMatchObject({ admitted: false })
    expect([[...held], await limiter.sessions.count('bob')]).toEqual([['one', 'two'], 1])
  })
})

it("follows Hono's request if middleware replaces the one below it", async () => {
  const { door, login, limiter } = start({ settings: endless }, { ip: (request) => request.headers.get('x-real-ip') })
  await login(get(), 'ada', 'one')
  const own = new HonoRequest(get('/', { headers: { 'x-real-ip': '192.0.2.1' } }))
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

describe('a body without end', () => {
  it.each(['paced', 'synchronous'])('is cancelled after the response to a %s one', async (kind) => {
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
    const request = get('/', { method: 'POST', body, duplex: 'half' } as RequestInit)
    expect((await door.serve('', reads)(request))?.status).toBe(413)
    await cancelled.promise
    expect(read).toBeLessThan(2_000_000)
  })
})

it('the origin of the site includes its protocol', async () => {
  const { limiter, door, login } = start({ settings: { maximum: 3 } }, { origin: SITE })
  const devices = door.serve('/devices', limiter.account())
  for (const id of ['one', 'two']) await login(get(), 'ada', id)
  const page = get('/devices')
  await door.check(page, ada('one'))
  const text = (await (await devices(page))?.text()) ?? ''
  const [proof = '', end = ''] = [/name="proof" value="([^"]+)"/, /name="end" value="(\w+)"/].map(
    (it) => it.exec(text)?.[1],
  )
  const send = async (origin: string) => {
    const body = new URLSearchParams({ proof, end })
    const request = new Request('http://10.0.0.1/devices', { method: 'POST', headers: { origin }, body })
    await door.check(request, ada('one'))
    return (await devices(request))?.status
  }
  expect([await send('http://app.test'), await send('https://evil.test'), await send(SITE)]).toEqual([403, 403, 303])
})

it('an empty cookie names no session', async () => {
  const { door } = start()
  expect(await door.missing(get(), { sessionId: '' })).toEqual({ ended: { reason: 'missing' } })
  const loaded = await door.load({ sessionId: '' }, async () => ({ userId: 'ada' }))
  expect(loaded).toEqual({ ended: { reason: 'missing' } })
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
