import type { OutgoingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { fetchCalls } from '../../../src/fetch.ts'
import type { Middleware, Sessmgr, SessmgrOptions } from '../../../src/index.ts'
import { type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { ADMIN_ROUTES, OWN_SESSION_ROUTES, PAGE_ROUTES, type RouteCall } from '../../support/rest-routes.ts'
import { send } from '../../support/send.ts'

const SITE = 'http://app.test'
const SERVED: Record<string, (limiter: Sessmgr) => Middleware> = {
  '/api': (limiter) => limiter.router(),
  '/account/sessions': (limiter) => limiter.account(),
  '/admin': (limiter) => limiter.admin(),
  '/choose': (limiter) => limiter.choice({ url: '/choose', complete() {} }),
}
/** What frames a message on its connection, and what Express says of itself. */
const FRAMING = /^(date|connection|keep-alive|transfer-encoding|x-powered-by)$/

interface Call {
  readonly method?: string
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

interface Reader extends SignedIn {
  readonly userId: number
}

interface Bytes {
  readonly status: number
  readonly headers: Record<string, readonly string[]>
  readonly body: string
}

// The clock stands still, so that only ids differ.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** Starts an application on Express, whose middlewares `serve` serves, too. */
async function start(options: SessmgrOptions = {}) {
  const host = await startRestHost({
    sessmgr: options,
    mount(app, limiter) {
      for (const path of ['/admin', '/choose']) app.use(path, SERVED[path]?.(limiter) as Middleware)
    },
  })
  onTestFinished(() => host.close())
  const door = fetchCalls(host.limiter, { exists: () => false, destroy() {}, ip: () => '127.0.0.1' })
  const serving = Object.entries(SERVED).map(([path, of]) => door.serve(path, of(host.limiter)))

  async function onExpress({ method = 'GET', path, headers = {}, body }: Call): Promise<Bytes> {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const answer = await send(host.origin, { method, path, headers: { host: 'app.test', ...length, ...headers } }, body)
    return bytesOf(answer.statusCode ?? 0, Object.entries(answer.headersDistinct), await buffer(answer))
  }

  async function byFetch(
    { method = 'GET', path, headers = {}, body }: Call,
    reader?: Reader,
  ): Promise<Bytes | undefined> {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = { ...length, ...headers } as Record<string, string>
    const request = new Request(SITE + path, { method, headers: sent, body: body ?? null })
    if (reader) await door.check(request, reader)
    for (const serve of serving) {
      const answer = await serve(request)
      if (!answer) continue
      const pairs: [string, string[]][] = [...answer.headers.keys()].map((name) => [
        name,
        [answer.headers.get(name) ?? ''],
      ])
      const all = Object.fromEntries(pairs)
      if (all['set-cookie']) all['set-cookie'] = answer.headers.getSetCookie()
      return bytesOf(answer.status, Object.entries(all), Buffer.from(await answer.arrayBuffer()))
    }
    return undefined
  }

  return {
    host,
    onExpress,
    byFetch,
    async signIn(login: string): Promise<Reader> {
      return { ...(await host.signIn(login)), userId: host.user(login).id }
    },
    /** Sends the same request both ways, and compares what comes back. */
    async compare(call: Call, reader?: Reader): Promise<Bytes> {
      const express = await onExpress(call)
      const served = await byFetch(call, reader)
      // What no middleware serves is for the application.
      if (served) expect(alike(served)).toEqual(alike(express))
      else expect(express.status).toBe(404)
      return express
    },
  }
}

function bytesOf(status: number, headers: [string, readonly string[] | undefined][], body: Buffer): Bytes {
  const own = headers.filter(([name]) => !FRAMING.test(name))
  const all: Record<string, readonly string[]> = {}
  for (const [name, values = []] of own) {
    // A door has no session of the application in which it could note where a guest wanted to go.
    const kept = values.filter((value) => !value.startsWith('connect.sid='))
    if (kept.length > 0) all[name] = kept
  }
  // Node's server counts what the middleware leaves to it.
  if (all['content-length']?.[0] === String(body.length)) delete all['content-length']
  return { status, headers: all, body: body.toString('latin1') }
}

const asForm = (fields: Record<string, string>, headers: OutgoingHttpHeaders) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', origin: SITE, ...headers },
  body: new URLSearchParams(fields).toString(),
})

describe('the same request gets the same bytes from Express and from `serve`', () => {
  test('reading REST routes, as an administrator, a user, a guest and a script', async () => {
    const { host, signIn, compare } = await start()
    await host.arrange()
    const [admin, alice] = [await signIn('admin'), await signIn('alice')]
    const script = await host.scriptOf('admin')
    const routes = [...ADMIN_ROUTES, ...OWN_SESSION_ROUTES, ...PAGE_ROUTES]
    const paths = [...new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path))]
    const statuses = new Set<number>()
    for (const path of [...paths, '/sessmgr/v1/none', '/', '/sessmgr/v1/people?per_page=0', '/sessmgr//v1/people']) {
      for (const method of path.length < 22 ? ['GET', 'HEAD', 'OPTIONS', 'PATCH'] : ['GET']) {
        const call = { method, path: `/api${path}` }
        const asked = [
          await compare({ ...call, headers: admin.headers }, admin),
          await compare({ ...call, headers: { ...alice.headers, 'accept-language': 'de' } }, alice),
          await compare(call),
          await compare({ ...call, headers: script }),
        ]
        for (const { status } of asked) statuses.add(status)
      }
    }
    expect([...statuses].sort()).toEqual([200, 204, 400, 401, 403, 404, 405])
  })

  test('changing REST routes, each in the same situation', async () => {
    const { host, onExpress, byFetch, signIn } = await start()
    for (const route of [...ADMIN_ROUTES, ...PAGE_ROUTES, ...OWN_SESSION_ROUTES]) {
      if (route.method === 'GET') continue
      const call = async (send: (call: Call, reader: Reader) => Promise<Bytes | undefined>) => {
        for (const { id } of host.users) await host.limiter.sessions.endAll(id)
        await host.arrange()
        const admin = await signIn('admin')
        return alike(await send(jsonCall(route, admin), admin))
      }
      expect([route, await call(byFetch)]).toEqual([route, await call(onExpress)])
    }
  })

  test('refused bodies and origins of a REST route', async () => {
    const { signIn, compare } = await start()
    const admin = await signIn('admin')
    const call = jsonCall({ method: 'PATCH', path: '/sessmgr/v1/settings', json: { maximum: 4 } }, admin)
    const bodies = ['', '{', '[]', '{"a":1,"a":2}', '{"maximum":0}', '{"maximum":"x"}', ' '.repeat(102_401), '\u0000']
    for (const body of bodies) await compare({ ...call, body }, admin)
    const others = [{ 'content-type': 'text/plain' }, { origin: 'https://evil.test' }, { 'x-host-nonce': 'wrong' }]
    const sites = [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-origin', origin: SITE }]
    const asked = [await compare({ ...call, headers: { ...call.headers, cookie: '' } })]
    for (const headers of [...others, ...sites]) {
      asked.push(await compare({ ...call, headers: { ...call.headers, ...headers } }, admin))
    }
    const statuses = new Set(asked.map(({ status }) => status))
    expect([...statuses].sort()).toEqual([200, 401, 403, 415])
  })

  test('the page of own devices: looked at, ended, refused', async () => {
    const { host, onExpress, byFetch, signIn, compare } = await start()
    const [alice, bob] = [await signIn('alice'), await signIn('bob')]
    const others = [await signIn('alice'), await signIn('alice')]
    const path = '/account/sessions'
    const { body } = await compare({ path, headers: alice.headers }, alice)
    expect(body).toContain('name="proof"')
    const proof = /name="proof" value="([^"]+)"/.exec(body)?.[1] ?? ''
    for (const method of ['HEAD', 'OPTIONS', 'PUT']) await compare({ method, path, headers: alice.headers }, alice)
    for (const more of ['/', '/x', '?ended=1', '/?a=%0d%0a']) {
      await compare({ path: path + more, headers: alice.headers }, alice)
    }
    await compare({ path })
    const end = (fields: Record<string, string>, more: OutgoingHttpHeaders = {}): Call => ({
      path,
      ...asForm(fields, { ...alice.headers, ...more }),
    })
    const wrong = [
      end({ proof, end: others[0]?.token ?? '' }, { origin: 'https://evil.test' }),
      end({ proof, end: others[0]?.token ?? '' }, { 'sec-fetch-site': 'cross-site' }),
      end({ proof: 'x', end: others[0]?.token ?? '' }),
      end({ proof, end: bob.token }),
      end({ proof, end: 'no token' }),
      end({ proof, end: 'x'.repeat(102_401) }),
    ]
    for (const call of wrong) await compare(call, alice)
    expect(await host.limiter.sessions.count(alice.userId)).toBe(3)
    const [here, there] = [
      await onExpress(end({ proof, end: others[0]?.token ?? '' })),
      await byFetch(end({ proof, end: others[1]?.token ?? '' }), alice),
    ]
    expect(alike(there)).toEqual(alike(here))
    expect([here.status, await host.limiter.sessions.count(alice.userId)]).toEqual([303, 1])
  })

  test('the admin screen and each of its files', async () => {
    const { onExpress, byFetch, signIn, compare } = await start()
    const [admin, alice] = [await signIn('admin'), await signIn('alice')]
    const { body } = await compare({ path: '/admin', headers: admin.headers }, admin)
    const files = [...body.matchAll(/(?:src|href)="(\/admin\/assets\/[^"]+)"/g)].map(([, file = '']) => file)
    expect(files.length).toBeGreaterThan(2)
    // Each file is compressed a second time in the background, once it has been asked for.
    for (const path of files) {
      for (const ask of [onExpress, byFetch]) {
        const answer = () => ask({ path, headers: { 'accept-encoding': 'br' } })
        await expect.poll(async () => (await answer())?.headers['content-encoding']).toEqual(['br'])
      }
    }
    for (const path of [
      '/admin/',
      '/admin/settings',
      '/admin/sessions?user=2',
      '/admin/none',
      '/admin/assets/none.js',
      ...files,
    ]) {
      for (const method of ['GET', 'HEAD']) await compare({ method, path, headers: admin.headers }, admin)
      for (const encoding of ['gzip', 'br']) {
        const first = await compare({ path, headers: { ...admin.headers, 'accept-encoding': encoding } }, admin)
        const etag = first.headers.etag?.[0]
        if (etag) await compare({ path, headers: { ...admin.headers, 'if-none-match': etag } }, admin)
      }
      await compare({ path, headers: alice.headers }, alice)
      await compare({ path })
    }
  })

  test('the page of a login that waits for a choice', async () => {
    const { host, onExpress, byFetch, compare } = await start({ settings: { maximum: 1, logic: 'ask' } })
    await host.signIn('alice')
    const path = '/choose'
    for (const headers of [{}, { accept: 'application/json' }]) await compare({ path, headers })
    await compare({ path, ...asForm({ end: 'x' }, {}) })
    const refused = await onExpress({ method: 'POST', path: '/login/alice' })
    expect(refused.status).toBe(409)
    const cookie = (refused.headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ')
    for (const headers of [{ cookie }, { cookie, accept: 'application/json' }, { cookie: cookie.slice(0, -2) }]) {
      for (const method of ['GET', 'HEAD', 'PUT']) await compare({ method, path, headers })
      for (const fields of [{}, { end: 'a'.repeat(64) }]) {
        const call = { path, ...asForm(fields, { ...headers, origin: 'https://evil.test' }) }
        expect(alike(await byFetch(call))).toEqual(alike(await onExpress(call)))
      }
    }
    const page = await compare({ path, headers: { cookie } })
    expect(page.body).toContain('<form')
  })
})

function jsonCall({ method, path, json }: Pick<RouteCall, 'method' | 'path' | 'json'>, reader: Reader): Call {
  const headers = { 'content-type': 'application/json', ...reader.headers }
  return json
    ? { method, path: `/api${path}`, headers, body: JSON.stringify(json) }
    : { method, path: `/api${path}`, headers: reader.headers }
}

/** Replaces what is new in each situation: hashes of sessions, ids, secrets and passwords. */
function alike(bytes: Bytes | undefined): Bytes {
  const text = JSON.stringify(bytes ?? null)
    .replace(/(nonce-|nonce=\\"|"x-host-nonce":\[")[\w-]+/g, '$1<nonce>')
    .replace(/\b[0-9a-f]{64}\b/g, '<token>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replace(/(password\\":\\")[^"\\]+/g, '$1<secret>')
  return JSON.parse(text) as Bytes
}
