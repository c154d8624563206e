import { inspect } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { hookCatalogue } from '../../../src/index.ts'
import { startRestHost } from '../../support/rest-host.ts'
import {
  API_TOKEN,
  BACKEND_SECRETS,
  errorBody,
  type Fault,
  providerOf,
  sendJson,
  startFreemius,
} from './freemius-server.ts'

const SECRET_KEY = 'sk_canary_product_secret'
const SITE_SECRET = 'canary-secret-of-the-site-0123456789'

it('license keys and secrets of the provider are in no log line, error, event, refusal or header', async () => {
  const heard: string[] = []
  const hear = (...said: unknown[]) => {
    heard.push(inspect(said, { depth: 12, maxStringLength: null, maxArrayLength: null }))
  }
  const server = await startFreemius()
  onTestFinished(() => server.close())
  const access = { apiToken: undefined, publicKey: 'pk_public', secretKey: SECRET_KEY }
  const licensing = providerOf(server, { timeoutMs: 150, validate: true, ...access })
  const sessmgr = { licensing, site: { url: 'https://shop.example.test' }, secret: SITE_SECRET }
  const host = await startRestHost({ sessmgr })
  onTestFinished(() => host.close())
  for (const name of Object.keys(hookCatalogue.actions) as 'lazycomments_activated'[]) {
    host.limiter.hooks.addAction(name, 'ears', (...parameters) => hear(name, parameters))
  }
  const headers = await host.scriptOf('admin')
  const call = async (method: string, path: string, json?: object) => {
    const answer = await host.call(method, `/sessmgr/v1/addons${path}`, { headers, json })
    expect(answer.headers['cache-control']).toBe('no-store')
    hear(answer.headers, answer.status === 200 ? '' : answer.text)
  }

  const key = server.issue(1001)
  const echo =
    (status: number): Fault =>
    (_request, response) =>
      sendJson(response, status, errorBody(status, 'license_error', server.requests.at(-1)))
  for (const fault of [
    undefined,
    echo(400),
    echo(500),
    () => {},
    (_request, response) => response.socket?.resetAndDestroy(),
    (_request, response) => response.writeHead(302, { location: `http://127.0.0.1:1/?${key}` }).end(),
    (_request, response) => response.end(`<p>${key} ${BACKEND_SECRETS.join(' ')}</p>`),
    (request, response) => (request.method === 'GET' ? false : echo(400)(request, response)),
  ] satisfies (Fault | undefined)[]) {
    server.fault = fault
    await call('GET', '')
    await call('POST', '/refresh')
    for (const sent of [`${key}_wrong`, key, [key]]) await call('POST', '/1001/license', { key: sent })
    await call('POST', '/1002/license', { key })
    await call('POST', `/${key}/license`, { key })
    await host.limiter.addons.isLicensed(1001).catch(hear)
    await host.limiter.addons.activate(1001, `${key}_other`).catch(hear)
    for (let again = 0; again < 2; again++) await call('DELETE', '/1001/license')
  }
  hear(host.actions, host.logs)
  const all = heard.join('\n')
  expect(all).toContain('The add-on catalogue could not be fetched')
  const secrets = [key, SECRET_KEY, SITE_SECRET, API_TOKEN, ...BACKEND_SECRETS]
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([])
  expect(new Set(server.requests.map(({ headers }) => headers.host))).toEqual(new Set([new URL(server.baseUrl).host]))
})
