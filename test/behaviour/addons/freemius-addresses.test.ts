import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FreemiusLicensingOptions } from '../../../src/licensing.ts'
import { listen } from '../../support/listen.ts'
import { failure, providerOf, SITE } from './freemius-client.ts'
import { type FreemiusServer, startFreemius } from './freemius-server.ts'

let server: FreemiusServer
beforeEach(async () => {
  server = await startFreemius()
})
afterEach(() => server.close())

const make = (more: Partial<FreemiusLicensingOptions> = {}) => providerOf(server, more)

describe('addresses', () => {
  it('no redirect is followed: not a GET, not a change, and the key goes nowhere else', async () => {
    const elsewhere: string[] = []
    const other = await listen((request, response) => {
      elsewhere.push(String(request.url))
      response.end(JSON.stringify({ addons: [], install_id: '1', id: '1' }))
    })
    const activation = await make().activate({ productId: 1001, key: server.issue(1001), site: SITE })
    const targets = [`${other}/`, 'http://169.254.169.254/latest/meta-data/']
    for (const location of targets) {
      for (const status of [301, 302, 303, 307, 308]) {
        server.fault = (_request, response) => response.writeHead(status, { location }).end('{"addons":[]}')
        for (const call of [
          () => make().listAddons({}),
          () => make().activate({ productId: 1001, key: 'sk_canary', site: SITE }),
          () => make().deactivate({ productId: 1001, activation, site: SITE }),
        ]) {
          expect((await failure(call())).code).toBe('provider_bad_response')
        }
      }
    }
    expect(elsewhere).toEqual([])
  })

  it('every request goes to the configured host, whatever fetch is used, and asks for no redirect', async () => {
    const asked: [string, RequestInit | undefined][] = []
    const own: typeof fetch = async (input, init) => {
      asked.push([String(input), init])
      return fetch(input, init)
    }
    const provider = make({ fetch: own, validate: true, baseUrl: `${server.baseUrl}/` })
    await provider.listAddons({})
    const key = server.issue(1001)
    const activation = await provider.activate({ productId: 1001, key, site: SITE })
    await provider.validate?.({ productId: 1001, activation, site: SITE })
    await provider
      .deactivate({ productId: 1001, activation: { ...activation, installId: '../../evil?x=' }, site: SITE })
      .catch(() => {})
    expect(asked).toHaveLength(4)
    for (const [url, init] of asked) {
      expect(new URL(url).origin).toBe(server.baseUrl)
      expect(init?.redirect).toBe('error')
      expect(init?.signal).toBeInstanceOf(AbortSignal)
    }
  })

  it('an own fetch that has followed a redirect all the same is not believed', async () => {
    const own: typeof fetch = async () =>
      Object.defineProperty(new Response('{"addons":[]}'), 'redirected', { value: true })
    expect((await failure(make({ fetch: own }).listAddons({}))).code).toBe('provider_bad_response')
  })
})
