import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { startProgram } from '../support/start-program.ts'
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
async function signIn(origin: string, password = 'secret'): Promise<string> {
  const body = new URLSearchParams({ username: 'alice', password })
  const { headers } = await fetch(`${origin}/login`, { method: 'POST', body, redirect: 'manual' })
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

function start(name: string) {
  const env = { REDIS_URL: redis.url, TSX_TSCONFIG_PATH: 'examples/tsconfig.json' }
  const parameters = name.endsWith('.ts') ? ['--import', 'tsx'] : []
  return startProgram(`examples/${name}`, { cwd: ROOT, env, parameters, processes: name === SEVERAL ? 2 : 1 })
}

it.concurrent.for(programs)('examples/%s signs the first of two browsers out', async (name, { onTestFinished }) => {
  const { origin, stop } = await start(name)
  onTestFinished(stop)
  const open = (cookie: string) => fetch(origin, { headers: { cookie } })
  const see = async (cookie: string) => (await open(cookie)).text()
  expect(await see(await signIn(origin, 'wrong'))).toEqual(FORM)
  const first = await signIn(origin)
  expect(await see(first)).toBe('You are signed in.')
  const second = await signIn(origin)
  expect([await see(first), await see(second)]).toEqual([FORM, 'You are signed in.'])
  if (name !== SEVERAL) return
  const pages = await Promise.all([first, second, first, second, first, second].map(open))
  expect(new Set(pages.map(({ headers }) => headers.get('x-process'))).size).toBe(2)
  expect(await Promise.all(pages.map((page) => page.text()))).toEqual(
    Array(3).fill([FORM, 'You are signed in.']).flat(),
  )
})

it('the page of the examples has each program, and none is longer than it has to be', () => {
  const { text } = pageAt('examples/README.md')
  expect(programs.filter((name) => !text.includes(`(${name})`))).toEqual([])
  expect(readFileSync(join(FOLDER, 'minimal.mjs'), 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(35)
})
