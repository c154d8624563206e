import { EventEmitter } from 'node:events'
import { connect, createServer, Http2ServerRequest, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { RequestHandler } from 'express'
import session from 'express-session'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { boundSessions } from '../../../src/bound.ts'
import { type SessionSettings, sessmgr } from '../../../src/index.ts'
import { createAuthentication } from '../../support/create-authentication.ts'
import { createRestUsers, restHostOf } from '../../support/rest-users.ts'
import { TestStore } from '../../support/test-store.ts'

/** Starts middlewares without a framework, as HTTP/2 has none of its own for them. */
async function startHttp2(settings: Partial<SessionSettings>) {
  const authentication = createAuthentication()
  const limiter = sessmgr({ settings, host: restHostOf(createRestUsers()) })
  const login = authentication.authenticate('local', {}) as RequestHandler
  const middlewares = [
    session({ secret: 'test', resave: false, saveUninitialized: false, store: new TestStore() }),
    limiter,
    boundSessions(limiter),
    authentication.session(),
    limiter.router(),
    (request, response, next) => {
      if (request.url !== '/login') return next()
      request.body = { username: 'alice', password: 'secret' }
      login(request, response, next)
    },
    (request, response) => void response.end(request.user ? 'signed in' : 'signed out'),
  ] as RequestHandler[]

  const server = createServer((request, response) => {
    // express-session asks HTTP/1 for this.
    Object.assign(response, { _implicitHeader: () => response.writeHead(response.statusCode) })
    const run = ([first, ...rest]: RequestHandler[]): unknown =>
      first?.(request as never, response as never, (error?: unknown) => {
        if (!error) return run(rest)
        response.statusCode = (error as { status?: number }).status ?? 500
        response.end()
      })
    run(middlewares)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    client.close()
    await new Promise((resolve) => server.close(resolve))
    await limiter.close()
  })

  async function send(path: string, cookie = '', more: OutgoingHttpHeaders = {}) {
    const stream = client.request({ ':path': path, cookie, ...more })
    const headers = new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve))
    let text = ''
    for await (const chunk of stream.setEncoding('utf8')) text += chunk
    const { ':status': status, 'set-cookie': cookies, location } = await headers
    const [id] = ((cookies ?? []) as string[]).filter((cookie) => cookie.startsWith('connect.sid='))
    return { status, text, location, cookie: id?.split(';')[0] }
  }
  return Object.assign(send, { client, limiter })
}

const PROTOTYPES = [Object.prototype, EventEmitter.prototype, Http2ServerRequest.prototype]
const members = () => PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype))

describe('over HTTP/2', () => {
  let before: ReturnType<typeof members>
  beforeAll(() => {
    before = members()
  })

  test('rule 5: holds the limit', async () => {
    for (const [logic, statuses, states] of [
      ['logout_oldest', [200, 200, 200], ['signed out', 'signed in', 'signed in']],
      ['block', [200, 200, 403], ['signed in', 'signed in', 'signed out']],
    ] as const) {
      const get = await startHttp2({ maximum: 2, logic })
      const logins = [await get('/login'), await get('/login'), await get('/login')]
      expect(logins.map(({ status }) => status)).toEqual(statuses)
      const pages = await Promise.all(logins.map(({ cookie }) => get('/', cookie)))
      expect(pages.map(({ text }) => text)).toEqual(states)
    }
  })

  test('leaves every object as it was: a request changes no prototype that is not its own', async () => {
    const get = await startHttp2({ maximum: 2 })
    await get('/login')
    expect(members()).toEqual(before)
    expect(JSON.stringify(Object.assign({}, { login: 'alice', logIn: 1 }))).toBe('{"login":"alice","logIn":1}')
  })

  test('takes :authority for the host, not the field of that name', async () => {
    for (const [authority, host, code] of [
      ['app.example', 'evil.example', 'rest_forbidden'],
      ['evil.example', 'app.example', 'rest_cross_origin'],
      ['app.example', undefined, 'rest_forbidden'],
    ]) {
      const send = await startHttp2({})
      const { text } = await send('/sessmgr/v1/settings', '', {
        ':method': 'POST',
        ':authority': authority,
        ...(host && { host }),
        origin: 'https://app.example',
        authorization: `Basic ${Buffer.from('admin:wrong').toString('base64')}`,
      })
      expect(JSON.parse(text).code, authority).toBe(code)
    }
  })

  test('leads back to the page on which a user has left a bound session', async () => {
    const send = await startHttp2({})
    const headers = { ':method': 'POST', 'sec-fetch-site': 'same-origin', referer: 'https://app.example/cart?a=1' }
    expect((await send('/session/leave', '', headers)).location).toBe('/cart?a=1')
  })
})
