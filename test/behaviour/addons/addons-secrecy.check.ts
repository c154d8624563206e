import { inspect } from 'node:util'
import { expect, it, onTestFinished, vi } from 'vitest'
import { hookCatalogue } from '../../../src/index.ts'
import { type RestHost, startRestHost } from '../../support/rest-host.ts'
import {
  API_TOKEN,
  BACKEND_SECRETS,
  errorBody,
  type Fault,
  type FreemiusServer,
  PARENT,
  providerOf,
  sendJson,
  startFreemius,
} from './freemius-server.ts'

const CONSOLE = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const
const SECRET_KEY = 'sk_canary_product_secret'
const SITE_SECRET = 'canary-secret-of-the-site-0123456789'

let server: FreemiusServer
let host: RestHost
const heard: string[] = []
const answers: string[] = []

const hear = (...said: unknown[]) => {
  const whole = { depth: 12, maxStringLength: null, maxArrayLength: null }
  for (const word of said) heard.push(inspect(word, whole))
}

/** Does everything that can be done with licenses, a wrong key and a good one. */
async function everything(key: string): Promise<void> {
  const headers = await host.scriptOf('admin')
  const call = async (method: string, path: string, json?: object) => {
    const { status, text, headers: more } = await host.call(method, `/sessmgr/v1/addons${path}`, { headers, json })
    expect(more['cache-control']).toBe('no-store')
    if (status !== 200) answers.push(text)
    hear(more)
  }
  await call('GET', '')
  await call('POST', '/1001/license', { key: `${key}_wrong` })
  await call('POST', '/1001/license', { key })
  await call('POST', '/1002/license', { key })
  await call('POST', `/${key}/license`, { key })
  await call('POST', '/1001/license', { key: [key] })
  await call('POST', '/refresh')
  for (let check = 0; check < 3; check++) await host.limiter.addons.isLicensed(1001).catch(hear)
  await host.limiter.addons.activate(1001, `${key}_other`).catch(hear)
  await call('DELETE', '/1001/license')
  await call('DELETE', '/1001/license')
}

/** Makes the kept catalogue two days old, so that the backend is asked for it again. */
async function ageCatalogue(): Promise<void> {
  const { transients } = host.registry
  const name = `addons_freemius:${PARENT}`
  const kept = await transients.get(name)
  const time = Date.now() - 2 * 24 * 60 * 60_000
  if (kept) await transients.set(name, JSON.stringify({ ...JSON.parse(kept), fetchedAt: time, triedAt: time }), 60_000)
}

const echo =
  (status: number): Fault =>
  (_request, response) =>
    sendJson(response, status, errorBody(status, 'license_error', server.requests.at(-1)))

it('license keys and secrets of the provider are in no log line, error, event, refusal or header', async () => {
  server = await startFreemius()
  const spies = [
    ...CONSOLE.map((method) => vi.spyOn(console, method).mockImplementation(hear)),
    ...[process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockImplementation((text) => hear(String(text)) === undefined),
    ),
  ]
  const restore = () => {
    for (const spy of spies) spy.mockRestore()
  }
  onTestFinished(restore)
  const access = { apiToken: undefined, publicKey: 'pk_public', secretKey: SECRET_KEY }
  const licensing = providerOf(server, { timeoutMs: 150, validate: true, ...access })
  host = await startRestHost({
    sessmgr: { licensing, site: { url: 'https://shop.example.test' }, secret: SITE_SECRET, logger: undefined },
  })
  onTestFinished(async () => {
    await host.close()
    await server.close()
  })
  for (const name of Object.keys(hookCatalogue.actions) as 'lazycomments_activated'[]) {
    host.limiter.hooks.addAction(name, 'ears', (...parameters) => hear(name, parameters))
  }
  const key = server.issue(1001)
  const faults: (Fault | undefined)[] = [
    undefined,
    echo(400),
    echo(500),
    () => {},
    (_request, response) => response.socket?.resetAndDestroy(),
    (_request, response) => response.writeHead(302, { location: `http://127.0.0.1:1/?${key}` }).end(),
    (_request, response) => response.end(`<p>${key} ${BACKEND_SECRETS.join(' ')}</p>`),
    (request, response) => (request.method === 'GET' ? false : echo(400)(request, response)),
  ]
  for (const fault of faults) {
    server.fault = fault
    await ageCatalogue()
    await everything(key)
  }
  restore()
  hear(host.actions, host.logs, answers)
  const all = heard.join('\n')
  expect(all.length).toBeGreaterThan(2000)
  expect(all.includes('The add-on catalogue could not be fetched')).toBe(true)
  const secrets = [key, SECRET_KEY, SITE_SECRET, API_TOKEN, ...BACKEND_SECRETS]
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([])
  expect(server.requests.map(({ headers }) => headers.host)).toEqual(
    server.requests.map(() => new URL(server.baseUrl).host),
  )
})
