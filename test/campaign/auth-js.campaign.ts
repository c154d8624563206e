import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { explicitCalls } from '../../src/explicit.ts'
import { memoryStore, type SessmgrOptions, sessmgr } from '../../src/index.ts'
import { runBlock } from '../docs/recipe-app.ts'

/** What is installed stays here. */
const FOLDER = join(tmpdir(), 'sessmgr-auth-js')
/** What next-auth 5 is made of. */
const PACKAGE = '@auth/core@0.41.3'
const SITE = 'http://app.test/auth'

interface AuthJs {
  Auth(request: Request, config: object): Promise<Response>
}
let authJs: AuthJs
let credentials: (options: object) => object

beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), '{"private":true,"type":"module"}')
  const install = ['install', '--no-audit', '--no-fund', PACKAGE]
  const { status, stderr } = spawnSync('npm', install, { cwd: FOLDER, encoding: 'utf8' })
  expect(status === 0 ? '' : stderr).toBe('')
  const load = (file: string) => import(pathToFileURL(join(FOLDER, 'node_modules/@auth/core', file)).href)
  authJs = await load('index.js')
  credentials = (await load('providers/credentials.js')).default
}, 300_000)

/** An application with the configuration of docs/fetch.md. */
function start(options: SessmgrOptions = {}) {
  const limiter = sessmgr({ logger: { warn() {}, error() {} }, ...options })
  onTestFinished(() => limiter.close())
  const providers = [
    credentials({ credentials: { name: {} }, authorize: ({ name }: { name: string }) => ({ id: name, name }) }),
  ]
  let config: object = {}
  const NextAuth = (given: object) => {
    config = { ...given, secret: 'x'.repeat(32), trustHost: true, basePath: '/auth', logger: { error() {}, warn() {} } }
    return {}
  }
  const modules: Record<string, object> = {
    'next-auth': { __esModule: true, default: NextAuth },
    'sessmgr/explicit': { explicitCalls },
  }
  runBlock('fetch', 2, { limiter, providers, require: (name: string) => modules[name] })
  return { limiter, client: () => new Client((request) => authJs.Auth(request, config)) }
}

class Client {
  readonly #send: (request: Request) => Promise<Response>
  cookies = new Map<string, string>()

  constructor(send: (request: Request) => Promise<Response>) {
    this.#send = send
  }

  async call(path: string, fields?: Record<string, string>): Promise<Response> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ')
    const form = { method: 'POST', body: new URLSearchParams(fields) }
    const answer = await this.#send(new Request(SITE + path, { ...(fields && form), headers: { cookie } }))
    for (const one of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? []
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return answer
  }

  async post(path: string, fields: Record<string, string> = {}): Promise<Response> {
    const { csrfToken } = (await (await this.call('/csrf')).json()) as { csrfToken: string }
    return this.call(path, { ...fields, csrfToken })
  }

  signIn = () => this.post('/callback/credentials', { name: 'ada' })
  isLive = async () => (await (await this.call('/session')).json())?.user?.name === 'ada'
  hasCookie = () => this.cookies.has('authjs.session-token')
}

test.each(['logout_oldest', 'block'])(
  'of 20 sign-ins at once, mode %s leaves exactly the limit live',
  async (logic) => {
    const { limiter, client } = start({ settings: { maximum: 2, logic } })
    const clients = Array.from({ length: 20 }, client)
    await Promise.all(clients.map((one) => one.signIn()))
    const states = await Promise.all(clients.map((one) => one.isLive()))
    expect([states.filter(Boolean).length, await limiter.sessions.count('ada')]).toEqual([2, 2])
    // The cookie of an ended session goes.
    expect(clients.map((one) => one.hasCookie())).toEqual(states)
  },
)

test('a sign-out frees the slot, and makes a copy of the cookie worthless', async () => {
  const { limiter, client } = start({ settings: { maximum: 2 } })
  const [one, copy] = [client(), client()]
  await one.signIn()
  copy.cookies = new Map(one.cookies)
  expect(await copy.isLive()).toBe(true)
  await one.post('/signout')
  expect([await one.isLive(), await copy.isLive(), await limiter.sessions.count('ada')]).toEqual([false, false, 0])
})

test('ending sessions and a site-wide logout have effect at the next request', async () => {
  const { limiter, client } = start({ settings: { maximum: 2 } })
  const [one, two] = [client(), client()]
  await one.signIn()
  await limiter.sessions.endAll('ada')
  expect(await one.isLive()).toBe(false)
  await two.signIn()
  await limiter.sessions.logoutAllUsers()
  expect(await two.isLive()).toBe(false)
})

test('while the store does not respond, nobody is signed in, and nobody loses the session', async () => {
  const store = memoryStore()
  const { client } = start({ store, settings: { maximum: 2 } })
  const one = client()
  await one.signIn()
  const { useOf } = store.sessions
  store.sessions.useOf = () => Promise.reject(new Error('The store is down.'))
  expect([await one.isLive(), one.hasCookie()]).toEqual([false, true])
  store.sessions.useOf = useOf
  expect(await one.isLive()).toBe(true)
})
