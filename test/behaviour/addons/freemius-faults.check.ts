import { it as base, describe, expect } from 'vitest'
import { assertHidden } from '../../../src/testing/licensing-case.ts'
import { failure, json, providerOf, SITE } from './freemius-client.ts'
import {
  API_TOKEN,
  BACKEND_SECRETS,
  errorBody,
  type Fault,
  type FreemiusServer,
  startFreemius,
} from './freemius-server.ts'

/** Each has a backend of its own, because they wait at the same time. */
const it = base.extend<{ server: FreemiusServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs.
  server: async ({}, use) => {
    const server = await startFreemius()
    await use(server)
    await server.close()
  },
})

const FAULTS: Record<string, { fault: Fault; code: string; attempts: number; timeoutMs?: number }> = {
  'says nothing': { fault: () => {}, code: 'provider_unavailable', attempts: 1, timeoutMs: 1500 },
  'stops in the middle': {
    fault: (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"addons":['),
    code: 'provider_unavailable',
    attempts: 1,
    timeoutMs: 1500,
  },
  'resets the connection': {
    fault: (_request, response) => response.socket?.resetAndDestroy(),
    code: 'provider_unavailable',
    attempts: 3,
  },
  'resets it in the middle': {
    fault: (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"addons":[')
      setTimeout(() => response.socket?.resetAndDestroy(), 20)
    },
    code: 'provider_unavailable',
    attempts: 3,
  },
  'sends 10 MB': {
    fault: (_request, response) => response.writeHead(200).end(JSON.stringify({ addons: 'x'.repeat(10_000_000) })),
    code: 'provider_bad_response',
    attempts: 1,
  },
  'sends without end': {
    fault: (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        if (!response.destroyed && response.write(' '.repeat(64 * 1024))) setImmediate(more)
      }
      response.on('drain', more)
      more()
    },
    code: 'provider_bad_response',
    attempts: 1,
  },
  'answers HTML with 200': {
    fault: (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'),
    code: 'provider_bad_response',
    attempts: 1,
  },
  'answers nothing with 200': {
    fault: (_request, response) => response.writeHead(200).end(),
    code: 'provider_bad_response',
    attempts: 1,
  },
  'answers broken JSON': {
    fault: (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"addons":[}'),
    code: 'provider_bad_response',
    attempts: 1,
  },
  'answers 400 without a code': { fault: json(400, { message: 'no' }), code: 'provider_bad_response', attempts: 1 },
  'answers 429': { fault: json(429, {}), code: 'provider_unavailable', attempts: 1 },
  'answers 500': { fault: json(500, errorBody(500, 'internal')), code: 'provider_unavailable', attempts: 3 },
  'answers 503 as HTML': {
    fault: (_request, response) => response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Down</h1>'),
    code: 'provider_unavailable',
    attempts: 3,
  },
}

describe.concurrent('a backend that', () => {
  it.for(Object.entries(FAULTS))('%s', async ([, { fault, code, attempts, timeoutMs = 10_000 }], { server }) => {
    const activation = await providerOf(server).activate({ productId: 1001, key: server.issue(1001), site: SITE })
    server.fault = fault
    server.requests.length = 0
    const provider = providerOf(server, { timeoutMs })
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

  it('comes round between two attempts has answered', async ({ server }) => {
    let failed = 0
    server.fault = (request, response) => (failed++ < 2 ? json(500, {})(request, response) : false)
    expect(await providerOf(server).listAddons({})).toHaveLength(3)
    expect(server.requests).toHaveLength(3)
  })

  it('nobody listens at', async () => {
    // Servers of other tests, which run at the same time, never get this port.
    expect(await failure(providerOf({ baseUrl: 'http://127.0.0.1:2' }).listAddons({}))).toMatchObject({
      code: 'provider_unavailable',
      message: 'The licensing provider cannot be reached (ECONNREFUSED).',
    })
  })

  it('says nothing gets the time that a call has, all attempts together, 10 seconds unless another was said', async ({
    server,
  }) => {
    server.fault = () => {}
    const began = performance.now()
    expect((await failure(providerOf(server).listAddons({}))).code).toBe('provider_unavailable')
    const took = performance.now() - began
    expect(took).toBeGreaterThan(9_900)
    expect(took).toBeLessThan(30_000)
    expect(server.requests).toHaveLength(1)
  })
})
