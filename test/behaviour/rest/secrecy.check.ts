import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hookCatalogue } from '../../../src/index.ts'
import { basic, type RestAnswer } from '../../support/rest-client.ts'
import { type RestHost, type SignedIn, startRestHost } from '../../support/rest-host.ts'
import { ADMIN_ROUTES } from '../../support/rest-routes.ts'

const SITE_SECRET = 'canary-secret-of-the-site-0123456789'
const CONSOLE = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const

let host: RestHost
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
  const { hooks } = host.limiter
  for (const name of Object.keys(hookCatalogue.filters) as (keyof typeof hookCatalogue.filters)[]) {
    if (name.includes('{')) continue
    hooks.addFilter(name as 'sessmgr_bypass', 'ears', (value, ...parameters) => {
      hear(name, value, parameters)
      return value
    })
  }
})
afterEach(async () => {
  for (const spy of spies) spy.mockRestore()
  await host.close()
})

/** Hears an answer: its body, and its headers but for those that carry the caller's own secret. */
function answered({ text, headers }: RestAnswer): void {
  const { 'set-cookie': _cookie, 'x-host-nonce': _nonce, ...rest } = headers
  hear(text, rest)
}

async function everyRoute(headers: Record<string, string>): Promise<void> {
  for (const { method, path, json } of ADMIN_ROUTES) answered(await host.call(method, path, { headers, json }))
}

async function everyMistake(headers: Record<string, string>): Promise<void> {
  await everyRoute(headers)
  for (const { method, path } of ADMIN_ROUTES) {
    answered(await host.call(method, path, { headers: { ...headers, 'content-type': 'text/plain' }, body: 'x' }))
    const broken = { headers: { ...headers, 'content-type': 'application/json' }, body: '{"user": canary' }
    answered(await host.call(method, path, broken))
    answered(await host.call('DELETE', path, { headers }))
    answered(await host.call(method, `${path}/nothing`, { headers }))
  }
}

/** The values that must not have been heard, of those that are long enough to tell. */
function expectUnheard(secrets: readonly string[]): void {
  for (const spy of spies) spy.mockRestore()
  hear(host.actions, host.logs)
  const everything = heard.join('\n')
  expect(everything.length).toBeGreaterThan(1000)
  for (const secret of secrets) expect(secret.length).toBeGreaterThan(15)
  expect(secrets.filter((secret) => everything.includes(secret))).toEqual([])
}

const secretsOf = ({ cookie, nonce, sessionId }: SignedIn) => [cookie, nonce, sessionId]

describe('nothing secret is in an answer, a log line, an error, a hook or on the terminal', () => {
  it('when administrators, others and strangers call every route', async () => {
    const people = [await host.signIn('alice'), await host.signIn('bob')]
    const [spare, wrong] = [await host.limiter.passwords.create(1, 'one'), 'WRNG canary PASS word 1234 5678']
    const base64 = basic('admin', spare.password).authorization.slice('Basic '.length)
    const admins: SignedIn[] = []
    for (let call = 0; call < 2; call++) admins.push(await host.signIn('admin'))
    for (const [{ headers }] of [admins, people] as [SignedIn][]) await everyMistake({ ...headers })
    await everyMistake({ ...basic('admin', spare.password) })
    for (const name of ['admin', 'nobody']) await everyMistake({ ...basic(name, wrong) })
    await everyMistake({})
    const [admin] = admins
    if (admin) await everyMistake({ cookie: admin.cookie, 'x-host-nonce': 'canary-nonce-that-is-wrong' })

    const hashes = (await host.registry.passwords.list(1)).map(({ hash }) => hash)
    const plain = spare.password.replaceAll(' ', '')
    expectUnheard([
      ...[...people, ...admins].flatMap(secretsOf),
      ...[spare.password, plain, base64, ...hashes, wrong, wrong.replaceAll(' ', ''), SITE_SECRET],
      'canary-nonce-that-is-wrong',
    ])
  })

  it('when the store, the host, the session store and subscribers fail', async () => {
    const admin = await host.signIn('admin')
    const { password } = await host.limiter.passwords.create(1, 'one')
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
      [host.limiter.host ?? {}, ['can']],
    ] as unknown as [Record<string, unknown>, string[]][]) {
      for (const method of methods) {
        const own = Object.getOwnPropertyDescriptor(owner, method)
        owner[method] = method === 'summary' ? failingAtOnce : failure
        await everyRoute({ ...admin.headers })
        await everyRoute({ ...script })
        if (own) Object.defineProperty(owner, method, own)
        else delete owner[method]
      }
    }
    host.sessionStore.undeletable.add(admin.sessionId)
    Object.assign(host.sessionStore.destroyError, { message: `sess:${admin.sessionId} cannot be deleted` })
    await everyRoute({ ...script })
    expect(heard.join('\n')).toContain('A REST call failed.')
    expectUnheard([...secretsOf(admin), password, password.replaceAll(' ', ''), SITE_SECRET])
  })

  it('when something else is sent where a secret belongs', async () => {
    const admin = await host.signIn('admin')
    const { id, password } = await host.limiter.passwords.create(1, 'one')
    await host.limiter.passwords.revoke(1, id)
    for (const sent of [admin.sessionId, admin.nonce, password, `x\r\nforged: ${password}`]) {
      for (const json of [{ user: sent }, { user: 'admin', token: sent }, { maximum: sent }, { logic: sent }]) {
        for (const path of ['sessions/destroy', 'settings']) {
          answered(await host.call('POST', `/sessmgr/v1/${path}`, { headers: await host.scriptOf('admin'), json }))
        }
      }
    }
    expectUnheard([...secretsOf(admin), password])
  })
})

describe('a stranger learns nothing of who has an account', () => {
  it('the answers of sessions/destroy and of the list are the same byte by byte, headers too', async () => {
    await host.signIn('alice')
    const { token } = await host.signIn('alice')
    const answers = new Set<string>()
    const carriers = [{}, { cookie: 'connect.sid=s%3Aforged.forged' }, { 'x-host-nonce': 'forged' }]
    for (const headers of carriers) {
      for (const user of ['alice', 'nobody', '2', '99', 'alice@example.test', 'nobody@example.test', '', 7, null]) {
        for (const more of [{}, { token }, { token: 'x' }]) {
          const answer = await host.call('POST', '/sessmgr/v1/sessions/destroy', { headers, json: { user, ...more } })
          answers.add(bytesOf(answer))
        }
        answers.add(bytesOf(await host.call('GET', `/sessmgr/v1/sessions?user=${user}`, { headers })))
      }
    }
    expect([...answers]).toHaveLength(1)
    expect([...answers][0]).toMatch(/^401 /)
    expect(await host.limiter.sessions.count(2)).toBe(2)
  })

  it('nor does one who is signed in without the capability', async () => {
    const { headers } = await host.signIn('bob')
    const answers = new Set<string>()
    for (const user of ['alice', 'nobody', '2', '99', '']) {
      answers.add(bytesOf(await host.call('POST', '/sessmgr/v1/sessions/destroy', { headers, json: { user } })))
    }
    expect([...answers]).toHaveLength(1)
    expect([...answers][0]).toMatch(/^403 /)
  })
})

function bytesOf({ status, headers, text }: RestAnswer): string {
  const { date: _date, ...rest } = headers
  return `${status} ${JSON.stringify(rest)} ${text}`
}
