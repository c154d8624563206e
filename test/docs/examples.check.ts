import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import supertest from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { listenAnywhere, startProgram } from '../support/start-program.ts'
import { BUILT_IN_LOGICS } from '../support/whole-settings.ts'
import { pageAt, ROOT } from './pages.ts'

const FOLDER = join(ROOT, 'examples')
const programs = readdirSync(FOLDER).filter((name) => /\.(mjs|ts)$/.test(name))
const SEVERAL = 'two-processes.mjs'
const FORM = expect.stringContaining('<form method="post" action="/login">')

// Not emptied between the tests: they run at the same time.
let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis?.stop())

/** Signs alice in with a new browser, and returns its cookies. */
async function signIn(origin: string, password = 'secret', username = 'alice'): Promise<string> {
  const login = await send(`${origin}/login`, { username, password })
  return login.location === '/login/code' ? sendCode(origin, login.cookie) : login.cookie
}

const sendCode = async (origin: string, cookie: string) =>
  (await send(`${origin}/login/code`, { code: '123456' }, cookie)).cookie

/** Sends a form, and tells the cookies and the address that its answer has. */
async function send(url: string, form: Record<string, string>, cookie = '') {
  const body = new URLSearchParams(form)
  const { headers } = await fetch(url, { method: 'POST', body, headers: { cookie }, redirect: 'manual' })
  const cookies = headers.getSetCookie().map((one) => one.split(';')[0])
  return { cookie: cookies.join('; '), location: headers.get('location') }
}

function start(name: string, more: Record<string, string> = {}) {
  const env = { ...more, REDIS_URL: redis.url, TSX_TSCONFIG_PATH: 'examples/tsconfig.json' }
  const parameters = name.endsWith('.ts') ? ['--import', 'tsx'] : []
  return startProgram(`examples/${name}`, { cwd: ROOT, env, parameters, processes: name === SEVERAL ? 2 : 1 })
}

it.concurrent.for(programs)(
  'examples/%s signs the first of two browsers out',
  async (name, { expect, onTestFinished }) => {
    const { origin, stop } = await start(name)
    onTestFinished(stop)
    const see = async (cookie: string) => (await fetch(origin, { headers: { cookie } })).text()
    expect(await see(await signIn(origin, 'wrong'))).toEqual(FORM)
    const first = await signIn(origin)
    expect(await see(first)).toBe('You are signed in.')
    // Written in another way, the name still means the same user.
    const second = await signIn(origin, 'secret', 'Alice')
    expect([await see(first), await see(second)]).toEqual([FORM, 'You are signed in.'])
    if (name !== SEVERAL) return
    const seen = new Set<string>()
    const ask = async () => {
      for (const cookie of [first, first, second, second]) {
        const { headers, text } = await supertest(origin).get('/').set({ cookie, connection: 'close' })
        seen.add(`${headers['x-process']} ${cookie === first ? 'first' : 'second'} ${text === 'You are signed in.'}`)
      }
      return seen.size
    }
    await expect.poll(ask, { timeout: 60_000 }).toBe(4)
    expect([...seen].map((answer) => answer.replace(/^\d+ /, '')).sort()).toEqual([
      'first false',
      'first false',
      'second true',
      'second true',
    ])
  },
)

it.concurrent.for(BUILT_IN_LOGICS)(
  'examples/two-steps.mjs ends nothing by a password without its code, in mode %s',
  async (SESSMGR_LOGIC, { expect, onTestFinished }) => {
    const { origin, stop } = await start('two-steps.mjs', { SESSMGR_LOGIC })
    onTestFinished(stop)
    const see = async (cookie: string) => (await fetch(origin, { headers: { cookie } })).text()
    const first = await signIn(origin)
    for (let round = 0; round < 3; round++) {
      const { cookie } = await send(`${origin}/login`, { username: 'alice', password: 'secret' })
      expect([await see(cookie), await see(first)]).toEqual([FORM, 'You are signed in.'])
      expect((await send(`${origin}/login/code`, { code: '000000' }, cookie)).location).toBe('/')
    }
    expect(await see(first)).toBe('You are signed in.')
  },
)

it.concurrent.for(['minimal.mjs', SEVERAL])(
  'examples/%s fails on a port that is in use, and prints no address',
  async (name, { expect, onTestFinished }) => {
    const other = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void other.close())
    await once(other, 'listening')
    const TEST_PORT = String((other.address() as AddressInfo).port)
    const child = spawn(process.execPath, ['--import', listenAnywhere, `examples/${name}`], {
      cwd: ROOT,
      env: { ...process.env, REDIS_URL: redis.url, TEST_PORT },
    })
    onTestFinished(() => void child.kill())
    let [printed, logged] = ['', '']
    child.stdout.on('data', (chunk) => (printed += chunk))
    child.stderr.on('data', (chunk) => (logged += chunk))
    const [code] = await once(child, 'close')
    expect([code, printed, logged]).toEqual([1, '', expect.stringContaining('EADDRINUSE')])
  },
)

it('the page of the examples has each program, and none is longer than it has to be', () => {
  const { text } = pageAt('examples/README.md')
  expect(programs.filter((name) => !text.includes(`(${name})`))).toEqual([])
  expect(readFileSync(join(FOLDER, 'minimal.mjs'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(35)
})
