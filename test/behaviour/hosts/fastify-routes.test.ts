import { Agent, request } from 'node:http'
import { connect } from 'node:http2'
import { PassThrough } from 'node:stream'
import fastify, { type FastifyServerOptions } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fastifyRoutes } from '../../../src/fastify.ts'
import { Browser } from '../../support/browser.ts'
import { createLimiter } from '../../support/host-under-test.ts'
import { bareFastify } from './bare-fastify.ts'

const SETTINGS = '/sessmgr/v1/settings'

describe('a body that a preParsing hook has taken over', () => {
  async function startWithHook() {
    const { app, limiter, listen } = await bareFastify()
    app.addHook('preParsing', async (_request, _reply, payload) => payload.pipe(new PassThrough()))
    await app.register(fastifyRoutes, { prefix: '/api', serve: limiter.router() })
    const origin = await listen()
    const browser = new Browser(origin)
    await browser.request('POST', '/login', {})
    const nonce = (await browser.get('/nonce')).text
    const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
    const post = (headers: Record<string, string>, padding: number) =>
      fetch(`${origin}/api${SETTINGS}`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ maximum: 3 }) + ' '.repeat(padding),
        signal: AbortSignal.timeout(5000),
      })
    return { origin, post, nonce, limiter }
  }

  test('is read, however many bytes more than it needs, and refused when it is too large', async () => {
    for (const padding of [0, 20_000, 90_000]) {
      const { post, nonce, limiter } = await startWithHook()
      const answer = await post({ 'x-host-nonce': nonce }, padding)
      expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ maximum: 3 })])
      expect(await limiter.settings.get(), String(padding)).toMatchObject({ maximum: 3 })
    }
    const { post, nonce } = await startWithHook()
    expect((await post({ 'x-host-nonce': nonce }, 200_000)).status).toBe(413)
  })

  test('does not hold the connection up when nobody reads it', async () => {
    const { origin } = await startWithHook()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const post = () =>
      new Promise((resolve, reject) => {
        const options = { method: 'POST', agent, headers: { 'content-type': 'application/json' } }
        const posting = request(`${origin}/api${SETTINGS}`, options, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode))
        })
        posting.on('error', reject).end(' '.repeat(3_000_000))
      })
    expect([await post(), await post()]).toEqual([401, 401])
  })
})

test('the routes are found below any prefix, however lenient the router is', async () => {
  const lenient = { routerOptions: { caseSensitive: false, ignoreDuplicateSlashes: true } }
  const rewriting = { rewriteUrl: ({ url = '/' }) => url.replace(/^\/base/, '') }
  const cases: [prefix: string, server: FastifyServerOptions, paths: string[], status: number][] = [
    ['/api', {}, [`/api${SETTINGS}?x=//y`, `/%61pi${SETTINGS}`], 401],
    ['/api', {}, [`/api/${SETTINGS}`, `/api/sessmgr%2Fv1/settings`, '/api', '/api/'], 404],
    ['/:tenant/api', {}, [`/acme/api${SETTINGS}`, `/a-longer-name/api${SETTINGS}`], 401],
    ['/api', rewriting, [`/base/api${SETTINGS}`], 401],
    ['/api/', lenient, [`//api${SETTINGS}`, `/API/${SETTINGS}`, '/api/sessmgr//v1/settings'], 401],
    ['', {}, [SETTINGS], 401],
  ]
  for (const [prefix, server, paths, status] of cases) {
    const { app, limiter } = await bareFastify({ server })
    await app.register(fastifyRoutes, { prefix, serve: limiter.router() })
    for (const url of paths) expect((await app.inject({ url })).statusCode, `${url} below ${prefix}`).toBe(status)
  }
})

test('the screen links to itself below any prefix', async () => {
  for (const [prefix, server, url, base] of [
    ['/:tenant/admin', {}, '/acme/admin', '/acme/admin'],
    ['/admin', { rewriteUrl: ({ url = '/' }) => url.replace(/^\/base/, '') }, '/base/admin/?x=1', '/base/admin'],
    [
      '/:tenant/admin',
      { routerOptions: { ignoreDuplicateSlashes: true } },
      '//evil.example/admin',
      '/evil.example/admin',
    ],
  ] as const) {
    const { app, limiter } = await bareFastify({ server })
    await app.register(fastifyRoutes, { prefix, serve: limiter.admin() })
    const login = await app.inject({ method: 'POST', url: 'rewriteUrl' in server ? '/base/login' : '/login' })
    const cookie = String(login.headers['set-cookie']).split(';')[0] ?? ''
    const { body } = await app.inject({ url, headers: { cookie } })
    const [link] = /(?<=(src|href)=")[^"]+(?=\/assets\/)/.exec(body) ?? []
    expect(link).toBe(base)
  }
})

test("below no path of the session's cookie a login and a logout say what is missing, to the log and not to the client", async () => {
  const lines: string[] = []
  const logger = { level: 'error', stream: { write: (line: string) => void lines.push(line) } }
  const session = { cookie: { secure: false, path: '/app' } }
  const { app, errors } = await bareFastify({ server: { logger }, session })
  const { body, headers } = await app.inject({ method: 'POST', url: '/login' })
  expect(JSON.parse(body)).toMatchObject({ statusCode: 500, message: 'Internal Server Error' })
  expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
  expect((await app.inject({ method: 'POST', url: '/logout' })).statusCode).toBe(500)
  expect((await app.inject('/nonce')).body).toBe('')
  const missing = { code: 'session_middleware_missing', message: expect.stringContaining('path') }
  expect(errors).toMatchObject([missing, missing])
  const logged = lines.map((line) => JSON.parse(line).err)
  expect(logged[0]).toMatchObject({ code: missing.code, message: missing.message })
})

test('a page of the application itself may post by HTTP/2, one of another site not', async () => {
  const { app, limiter, listen } = await bareFastify({ server: { http2: true } as object })
  await app.register(fastifyRoutes, { prefix: '/api', serve: limiter.router() })
  const origin = await listen()
  const client = connect(origin)
  onTestFinished(() => client.destroy())
  const send = (headers: Record<string, string>, body = '') =>
    new Promise<{ headers: Record<string, unknown>; text: string }>((resolve, reject) => {
      const stream = client.request(headers, { endStream: body === '' })
      const answer = { headers: {}, text: '' }
      stream.on('response', (given) => Object.assign(answer.headers, given))
      stream.on('data', (chunk) => {
        answer.text += String(chunk)
      })
      stream.on('end', () => resolve(answer)).on('error', reject)
      if (body !== '') stream.end(body)
    })
  const login = await send({ ':method': 'POST', ':path': '/login' })
  const cookie = String(login.headers['set-cookie']).split(';')[0] ?? ''
  const nonce = (await send({ ':path': '/nonce', cookie })).text
  const post = async (from: string) => {
    const own = { ':method': 'POST', ':path': `/api${SETTINGS}`, cookie, 'x-host-nonce': nonce, origin: from }
    return (await send({ ...own, 'content-type': 'application/json' }, '{"maximum":3}')).headers[':status']
  }
  expect(await post(origin)).toBe(200)
  expect(await post('http://evil.example')).toBe(403)
})

test('routes where sessmgr does not stand log once that they take everybody for signed out', async () => {
  for (const [isMissing, expected] of [
    [true, [expect.stringMatching(/^sessmgr is not mounted before limiter\.router\(\).*fastifySessmgr/)]],
    [false, []],
  ] as const) {
    const logs: unknown[] = []
    const limiter = createLimiter({ logger: { warn: (line) => void logs.push(line), error() {} } })
    const app = isMissing ? fastify({ forceCloseConnections: true }) : (await bareFastify({ limiter })).app
    await app.register(fastifyRoutes, { prefix: '/api', serve: limiter.router() })
    onTestFinished(async () => {
      await app.close()
      await limiter.close()
    })
    const headers = { cookie: 'sessionId=x', 'x-host-nonce': 'x' }
    for (let call = 0; call < 2; call++) {
      expect((await app.inject({ url: `/api${SETTINGS}`, headers })).statusCode).toBe(401)
    }
    expect(logs).toEqual(expected)
  }
})
