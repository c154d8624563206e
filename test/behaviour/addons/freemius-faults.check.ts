import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { assertHidden } from '../../../src/testing/licensing-case.ts'
import { listen } from '../../support/listen.ts'
import { failure, json, providerOf, SITE } from './freemius-client.ts'
import {
  API_TOKEN,
  BACKEND_SECRETS,
  errorBody,
  type Fault,
  type FreemiusServer,
  startFreemius,
} from './freemius-server.ts'

let server: FreemiusServer
beforeEach(async () => {
  server = await startFreemius()
})
afterEach(() => server.close())

const answers =
  (status: number, body?: string, length?: number): Fault =>
  (_request, response) => {
    response.writeHead(status, length ? { 'content-length': length } : {})
    if (length) response.write(body)
    else response.end(body)
  }
const resets: Fault = (_request, response) => response.socket?.resetAndDestroy()

/** What a backend does, what it is called, and how often a list is asked for. */
const FAULTS: Record<string, readonly [Fault, string, number]> = {
  'says nothing': [() => {}, 'provider_unavailable', 1],
  'stops in the middle': [answers(200, '{"addons":[', 100), 'provider_unavailable', 1],
  'resets the connection': [resets, 'provider_unavailable', 3],
  'resets it in the middle': [
    (request, response) => {
      answers(200, '{"addons":[', 100)(request, response)
      setTimeout(() => resets(request, response), 20)
    },
    'provider_unavailable',
    3,
  ],
  'sends 10 MB': [answers(200, JSON.stringify({ addons: 'x'.repeat(10_000_000) })), 'provider_bad_response', 1],
  'sends without end': [
    (_request, response) => {
      const more = () => {
        if (!response.destroyed && response.write(' '.repeat(64 * 1024))) setImmediate(more)
      }
      response.on('drain', more)
      more()
    },
    'provider_bad_response',
    1,
  ],
  'answers HTML with 200': [answers(200, '<h1>Sign in</h1>'), 'provider_bad_response', 1],
  'answers nothing with 200': [answers(200), 'provider_bad_response', 1],
  'answers broken JSON': [answers(200, '{"addons":[}'), 'provider_bad_response', 1],
  'nests without end': [
    answers(200, `{"addons":[{"id":1,"info":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`),
    'provider_bad_response',
    1,
  ],
  'answers 400 without a code': [json(400, { message: 'no' }), 'provider_bad_response', 1],
  'answers 429': [json(429, {}), 'provider_unavailable', 1],
  'answers 500': [json(500, errorBody(500, 'internal')), 'provider_unavailable', 3],
  'answers 503 as HTML': [answers(503, '<h1>Down</h1>'), 'provider_unavailable', 3],
}

describe('a backend that', () => {
  it.each(Object.entries(FAULTS))('%s', async (what, [fault, code, attempts]) => {
    const activation = await providerOf(server).activate({ productId: 1001, key: server.issue(1001), site: SITE })
    server.fault = fault
    server.requests.length = 0
    const provider = providerOf(server, { timeoutMs: /nothing$|stops/.test(what) ? 800 : 10_000 })
    const call = { productId: 1001, site: SITE }
    const key = 'sk_canary_of_a_fault'
    for (const [made, expected] of [
      [() => provider.listAddons({}), attempts],
      // Whether a change has happened nobody knows: it is not made twice.
      [() => provider.activate({ ...call, key }), 1],
      [() => provider.deactivate({ ...call, activation }), 1],
    ] as const) {
      const error = await failure(made())
      expect([error.code, error.retryable]).toEqual([code, code === 'provider_unavailable'])
      assertHidden(error, [key, activation.key, API_TOKEN, ...BACKEND_SECRETS])
      expect(server.requests.splice(0)).toHaveLength(expected)
    }
  })

  it('comes round between two attempts has answered; one that nobody listens at is named by its error', async () => {
    let failed = 0
    server.fault = (request, response) => (failed++ < 2 ? json(500, {})(request, response) : false)
    expect(await providerOf(server).listAddons({})).toHaveLength(3)
    expect(server.requests).toHaveLength(3)
    // Servers of other tests, which run at the same time, never get this port.
    expect(await failure(providerOf({ baseUrl: 'http://127.0.0.1:2' }).listAddons({}))).toMatchObject({
      code: 'provider_unavailable',
      message: 'The licensing provider cannot be reached (ECONNREFUSED).',
    })
  })

  it('says nothing gets 10 seconds unless another time was said', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const hangs: typeof fetch = (_url, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    let error: unknown
    const call = failure(providerOf(server, { fetch: hangs }).listAddons({})).then((reason) => (error = reason))
    await vi.advanceTimersByTimeAsync(9999)
    expect(error).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    vi.useRealTimers()
    expect((await call).code).toBe('provider_unavailable')
  })
})

describe('an address', () => {
  it('is never left by a redirect: not by a GET, not by a change, and the key goes nowhere else', async () => {
    const elsewhere: string[] = []
    const other = await listen((request, response) => {
      elsewhere.push(String(request.url))
      response.end(JSON.stringify({ addons: [], install_id: '1', id: '1' }))
    })
    const provider = providerOf(server)
    const call = { productId: 1001, site: SITE }
    const activation = await provider.activate({ ...call, key: server.issue(1001) })
    for (const location of [`${other}/`, 'http://169.254.169.254/latest/meta-data/']) {
      for (const status of [301, 302, 303, 307, 308]) {
        server.fault = (_request, response) => response.writeHead(status, { location }).end('{"addons":[]}')
        for (const made of [
          () => provider.listAddons({}),
          () => provider.activate({ ...call, key: 'sk_canary' }),
          () => provider.deactivate({ ...call, activation }),
        ]) {
          expect((await failure(made())).code, `${status} to ${location}`).toBe('provider_bad_response')
        }
      }
    }
    expect(elsewhere).toEqual([])
    const followed: typeof fetch = async () =>
      Object.defineProperty(new Response('{"addons":[]}'), 'redirected', { value: true })
    const error = await failure(providerOf(server, { fetch: followed }).listAddons({}))
    expect(error.code).toBe('provider_bad_response')
  })

  it('is the configured one for every request, whatever fetch is used', async () => {
    const asked: [string, RequestInit | undefined][] = []
    const own: typeof fetch = async (input, init) => {
      asked.push([String(input), init])
      return fetch(input, init)
    }
    const provider = providerOf(server, { fetch: own, validate: true, baseUrl: `${server.baseUrl}/` })
    await provider.listAddons({})
    const call = { productId: 1001, site: SITE }
    const activation = await provider.activate({ ...call, key: server.issue(1001) })
    await provider.validate?.({ ...call, activation })
    await provider.deactivate({ ...call, activation: { ...activation, installId: '../../evil?x=' } }).catch(() => {})
    expect(asked).toHaveLength(4)
    for (const [url, init] of asked) {
      expect(new URL(url).origin).toBe(server.baseUrl)
      expect(init?.redirect).toBe('error')
      expect(init?.signal).toBeInstanceOf(AbortSignal)
    }
  })
})
