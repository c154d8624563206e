import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hookCatalogue } from '../../../../src/index.ts'
import { basic, type RestAnswer } from '../../../support/rest-client.ts'
import { type RestHost, type SignedIn, startRestHost } from '../../../support/rest-host.ts'
import { ADMIN_ROUTES } from '../../../support/rest-routes.ts'

const SITE_SECRET = 'canary-secret-of-the-site-0123456789'
const CONSOLE = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const
const TYPICAL = ADMIN_ROUTES.filter(({ path }) => /\/(settings|sessions\/destroy|application-passwords)$/.test(path))

let host: RestHost
let admin: SignedIn
let password: string
let heard: string[]
let spies: { mockRestore(): void }[]

const hear = (...said: unknown[]) => {
  for (const word of said) heard.push(inspect(word, { depth: 12, maxStringLength: null, maxArrayLength: null }))
}

beforeEach(async () => {
  heard = []
  spies = [
    ...CONSOLE.map((method) => vi.spyOn(console, method).mockImplementation(hear)),
    ...[process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockImplementation((text) => hear(String(text)) === undefined),
    ),
  ]
  // Without a logger of the test: what is logged goes to the console, as in an application.
  host = await startRestHost({ sessmgr: { secret: SITE_SECRET, logger: undefined, settings: { maximum: 20 } } })
  for (const name of Object.keys(hookCatalogue.filters)) {
    if (name.includes('{')) continue
    host.limiter.hooks.addFilter(name as 'sessmgr_bypass', 'ears', (value, ...parameters) => {
      hear(name, value, parameters)
      return value
    })
  }
  admin = await host.signIn('admin')
  password = (await host.limiter.passwords.create(1, 'one')).password
})
afterEach(async () => {
  for (const spy of spies) spy.mockRestore()
  await host.close()
})

/** Calls a route and hears the answer: its body, and its headers but for those that carry the caller's own secret. */
async function answered(...call: Parameters<RestHost['call']>): Promise<void> {
  const { text, headers }: RestAnswer = await host.call(...call)
  const { 'set-cookie': _cookie, 'x-host-nonce': _nonce, ...rest } = headers
  hear(text, rest)
}

async function call(routes: typeof ADMIN_ROUTES, headers: Record<string, string>): Promise<void> {
  for (const { method, path, json } of routes) await answered(method, path, { headers, json })
}

async function everyMistake(routes: typeof ADMIN_ROUTES, headers: Record<string, string>): Promise<void> {
  await call(routes, headers)
  for (const { method, path } of routes) {
    for (const type of ['text/plain', 'application/json']) {
      await answered(method, path, { headers: { ...headers, 'content-type': type }, body: '{"user": canary' })
    }
    await answered('DELETE', path, { headers })
    await answered(method, `${path}/nothing`, { headers })
  }
}

const secretsOf = ({ cookie, nonce, sessionId }: SignedIn) => [cookie, nonce, sessionId]

/** Expects that neither the secrets of the administrator nor these, all long enough to tell, have been heard. */
function expectUnheard(more: readonly string[] = []): void {
  for (const spy of spies) spy.mockRestore()
  hear(host.actions, host.logs)
  const everything = heard.join('\n')
  expect(everything.length).toBeGreaterThan(1000)
  const secrets = [...secretsOf(admin), password, password.replaceAll(' ', ''), SITE_SECRET, ...more]
  for (const secret of secrets) expect(secret.length).toBeGreaterThan(15)
  expect(secrets.filter((secret) => everything.includes(secret))).toEqual([])
}

describe('nothing secret is in an answer, a log line, an error, a hook or on the terminal', () => {
  it('when administrators, others and strangers call every route', async () => {
    const people = [await host.signIn('alice'), await host.signIn('admin')]
    const wrong = 'WRNG canary PASS word 1234 5678'
    const base64 = basic('admin', password).authorization.slice('Basic '.length)
    await everyMistake(ADMIN_ROUTES, { ...admin.headers })
    for (const { headers } of people) await everyMistake(TYPICAL, { ...headers })
    await everyMistake(TYPICAL, basic('admin', password))
    await call(ADMIN_ROUTES, basic('admin', password))
    for (const name of ['admin', 'nobody']) await everyMistake(TYPICAL, basic(name, wrong))
    await everyMistake(TYPICAL, {})
    await everyMistake(TYPICAL, { cookie: admin.cookie, 'x-host-nonce': 'canary-nonce-that-is-wrong' })

    // What is sent where no secret belongs is not repeated, either.
    for (const sent of [admin.sessionId, admin.nonce, password, `x\r\nforged: ${password}`]) {
      for (const [path, json] of [
        ['sessions/destroy', { user: sent }],
        ['sessions/destroy', { user: 'admin', token: sent }],
        ['settings', { maximum: sent, logic: sent }],
      ] as const) {
        await answered('POST', `/sessmgr/v1/${path}`, { headers: basic('admin', password), json })
      }
    }
    const hashes = (await host.registry.passwords.list(1)).map(({ hash }) => hash)
    expectUnheard([
      ...people.flatMap(secretsOf),
      ...[base64, ...hashes, wrong, wrong.replaceAll(' ', ''), 'canary-nonce-that-is-wrong'],
    ])
  })

  it('when the store, the host, the session store and subscribers fail', async () => {
    const script = basic('admin', password)
    const failure = () => Promise.reject(new Error('out of order'))
    const failingAtOnce = () => {
      throw new Error('out of order')
    }
    const { users } = host.limiter.host ?? {}
    if (!users) throw new Error('the application has users')
    for (const [owner, methods] of [
      [host.registry.options, ['get', 'swap']],
      [host.registry.sessions, ['read', 'end', 'useOf']],
      [host.registry.passwords, ['list']],
      [host.registry.epoch, ['current', 'advance']],
      [users, ['findById', 'findByLogin', 'summary']],
    ] as unknown as [Record<string, unknown>, string[]][]) {
      for (const method of methods) {
        const own = Object.getOwnPropertyDescriptor(owner, method)
        owner[method] = method === 'summary' ? failingAtOnce : failure
        await call(ADMIN_ROUTES, { ...admin.headers })
        await call(TYPICAL, script)
        if (own) Object.defineProperty(owner, method, own)
        else delete owner[method]
      }
    }
    host.sessionStore.undeletable.add(admin.sessionId)
    Object.assign(host.sessionStore.destroyError, { message: `sess:${admin.sessionId} cannot be deleted` })
    await call(ADMIN_ROUTES, script)
    expect(heard.join('\n')).toContain('A REST call failed.')
    expectUnheard()
  })
})
