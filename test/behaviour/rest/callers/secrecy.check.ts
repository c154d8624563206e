import { inspect } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { hookCatalogue } from '../../../../src/index.ts'
import { basic, type RestAnswer } from '../../../support/rest-client.ts'
import { type SignedIn, startRestHost } from '../../../support/rest-host.ts'
import { ADMIN_ROUTES } from '../../../support/rest-routes.ts'

const SITE_SECRET = 'canary-secret-of-the-site-0123456789'
const TYPICAL = ADMIN_ROUTES.filter(({ path }) => /\/(settings|sessions\/destroy|application-passwords)$/.test(path))
const secretsOf = ({ cookie, nonce, sessionId }: SignedIn) => [cookie, nonce, sessionId]

/** An application in which a test hears every answer, log line and event, and what every filter is given. */
async function setUp() {
  const heard: string[] = []
  const hear = (...said: unknown[]) => {
    for (const word of said) heard.push(inspect(word, { depth: 12, maxStringLength: null, maxArrayLength: null }))
  }
  const host = await startRestHost({ sessmgr: { secret: SITE_SECRET, settings: { maximum: 20 } } })
  onTestFinished(() => host.close())
  for (const name of Object.keys(hookCatalogue.filters).filter((one) => !one.includes('{'))) {
    host.limiter.hooks.addFilter(name as 'sessmgr_bypass', 'ears', (value, ...parameters) => {
      hear(name, value, parameters)
      return value
    })
  }
  const admin = await host.signIn('admin')
  const { password } = await host.limiter.passwords.create(1, 'one')

  /** Calls a route and hears the answer: its body, and its headers but for those with the caller's own secret. */
  async function answered(...call: Parameters<typeof host.call>): Promise<void> {
    const { text, headers }: RestAnswer = await host.call(...call)
    const { 'set-cookie': _cookie, 'x-host-nonce': _nonce, ...rest } = headers
    hear(text, rest)
  }
  async function callAll(routes: typeof ADMIN_ROUTES, headers: object): Promise<void> {
    for (const { method, path, json } of routes) await answered(method, path, { headers: { ...headers }, json })
  }
  /** Expects that neither the secrets of the administrator nor these, all long enough to tell, have been heard. */
  function expectUnheard(more: readonly string[] = []): void {
    hear(host.actions, host.logs)
    const everything = heard.join('\n')
    expect(everything.length).toBeGreaterThan(1000)
    const secrets = [...secretsOf(admin), password, password.replaceAll(' ', ''), SITE_SECRET, ...more]
    for (const secret of secrets) expect(secret.length).toBeGreaterThan(15)
    expect(secrets.filter((secret) => everything.includes(secret))).toEqual([])
  }
  return { host, admin, password, answered, callAll, expectUnheard }
}

it('no secret is in an answer, a log line, an error or a hook, whoever calls with whatever mistake', async () => {
  const { host, admin, password, answered, callAll, expectUnheard } = await setUp()
  const everyMistake = async (headers: object) => {
    await callAll(TYPICAL, headers)
    for (const { method, path } of TYPICAL) {
      for (const type of ['text/plain', 'application/json']) {
        await answered(method, path, { headers: { ...headers, 'content-type': type }, body: '{"user": canary' })
      }
      await answered('DELETE', path, { headers: { ...headers } })
      await answered(method, `${path}/nothing`, { headers: { ...headers } })
    }
  }
  const people = [await host.signIn('alice'), await host.signIn('admin')]
  const wrong = 'WRNG canary PASS word 1234 5678'
  const script = basic('admin', password)
  await callAll(ADMIN_ROUTES, admin.headers)
  for (const { headers } of people) await everyMistake(headers)
  for (const headers of [script, basic('admin', wrong), basic('nobody', wrong), {}]) await everyMistake(headers)
  await callAll(ADMIN_ROUTES, script)
  await everyMistake({ cookie: admin.cookie, 'x-host-nonce': 'canary-nonce-that-is-wrong' })
  // What is sent where no secret belongs is not repeated, either.
  for (const sent of [admin.sessionId, admin.nonce, password, `x\r\nforged: ${password}`]) {
    for (const [path, json] of [
      ['sessions/destroy', { user: sent }],
      ['sessions/destroy', { user: 'admin', token: sent }],
      ['settings', { maximum: sent, logic: sent }],
    ] as const) {
      await answered('POST', `/sessmgr/v1/${path}`, { headers: script, json })
    }
  }
  const hashes = (await host.registry.passwords.list(1)).map(({ hash }) => hash)
  const base64 = script.authorization.slice('Basic '.length)
  const ofOthers = [base64, ...hashes, wrong, wrong.replaceAll(' ', ''), 'canary-nonce-that-is-wrong']
  expectUnheard([...people.flatMap(secretsOf), ...ofOthers])
})

it('nor when the store, the host, the session store and subscribers fail', async () => {
  const { host, admin, password, callAll, expectUnheard } = await setUp()
  const failure = () => Promise.reject(new Error('out of order'))
  const failingAtOnce = () => {
    throw new Error('out of order')
  }
  for (const [owner, methods] of [
    [host.registry.options, ['get', 'swap']],
    [host.registry.sessions, ['read', 'end', 'useOf']],
    [host.registry.passwords, ['list']],
    [host.registry.epoch, ['current', 'advance']],
    [host.limiter.host?.users, ['findById', 'findByLogin', 'summary']],
    [host.limiter.host, ['can']],
  ] as unknown as [Record<string, unknown>, string[]][]) {
    for (const method of methods) {
      const own = Object.getOwnPropertyDescriptor(owner, method)
      owner[method] = method === 'summary' ? failingAtOnce : failure
      await callAll(ADMIN_ROUTES, admin.headers)
      await callAll(TYPICAL, basic('admin', password))
      if (own) Object.defineProperty(owner, method, own)
      else delete owner[method]
    }
  }
  host.sessionStore.undeletable.add(admin.sessionId)
  Object.assign(host.sessionStore.destroyError, { message: `sess:${admin.sessionId} cannot be deleted` })
  await callAll(ADMIN_ROUTES, basic('admin', password))
  expect(host.logs.flat()).toContainEqual(expect.stringContaining('A REST call failed.'))
  expectUnheard()
})
