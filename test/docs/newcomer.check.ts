import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { startProgram } from '../support/start-program.ts'
import { compileAsNewcomer } from './compile-as-newcomer.ts'
import { asCommonJs, blocksOf, newcomerPrograms, withStores } from './newcomer-programs.ts'
import { ROOT } from './pages.ts'

// Below the package's own folder, where its name and those of its packages lead to them.
const folder = join(ROOT, 'test-output', 'newcomer')
const programs = newcomerPrograms()
const [limiterLine = ''] = blocksOf('docs/getting-started.md', 'More than one process')
const [quickStart = ''] = blocksOf('README.md', 'Quick start')
const [postgresLines = '', redisLines = '', either = ''] = blocksOf('README.md', 'Stores')
const rememberMe = blocksOf('docs/lifetime.md', 'Remember me')[0] ?? ''

beforeAll(() => mkdirSync(folder, { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts a program as it would be saved, and returns where it listens. */
async function start(name: string, code: string, env: Record<string, string> = {}): Promise<string> {
  writeFileSync(join(folder, name), code)
  const { origin, stop } = await startProgram(name, { cwd: folder, env })
  onTestFinished(stop)
  return origin
}

/** Starts a server, and returns the variable that names it. */
async function startServer(name: string): Promise<Record<string, string>> {
  if (name === 'Redis') {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    return { REDIS_URL: redis.url }
  }
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  return { DATABASE_URL: `postgresql://test@localhost/postgres?host=${encodeURIComponent(postgres.host)}` }
}

/** Signs alice in with a browser of her own, and gives its cookie with the attributes. */
async function signIn(origin: string, fields: Record<string, string> = {}): Promise<string> {
  const body = new URLSearchParams({ username: 'alice', password: 'secret', ...fields })
  const { status, headers } = await fetch(`${origin}/login`, { method: 'POST', body, redirect: 'manual' })
  expect([status, headers.get('location')]).toEqual([302, '/'])
  return headers.getSetCookie()[0] ?? ''
}

async function pageOf(origin: string, cookie = ''): Promise<string> {
  return (await fetch(origin, { headers: { cookie: cookie.split(';')[0] ?? '' } })).text()
}

/** Signs in three times, at the places in turn, and tells what each browser sees then. */
async function threeBrowsers(...origins: readonly [string, ...string[]]): Promise<readonly string[]> {
  const at = (index: number) => origins[index % origins.length] ?? ''
  const cookies: string[] = []
  for (const index of [0, 1, 2]) cookies.push(await signIn(at(index)))
  return Promise.all(cookies.map((cookie, index) => pageOf(at(index), cookie)))
}

const LAST_TWO = ['You are not signed in.', 'You are alice.', 'You are alice.']

describe('the lines of the README, in the program with Passport', () => {
  const made = /^const sessionStore.*\n|^app\.use\(\s*session\([\s\S]*?^app\.use\(passport\.session\(\)\)\n/gm
  /** The program with other lines in place of those that make the sessions and the limiter. */
  const programWith = (lines: string) => {
    const [app, listen = ''] = (programs[0]?.code ?? '').replace(made, () => 'HERE').split(/HERE(?!.*HERE)/s)
    const others = /^import (?!session |{ sessmgr }).*\n/gm
    const imports = lines.match(others)?.join('') ?? ''
    return `${imports}${app?.replace('HERE', '')}${lines.replaceAll(/^import .*\n/gm, '')}${listen}`
  }

  it('let the last two of three browsers stay signed in', async () => {
    const origin = await start('readme.mjs', programWith(quickStart))
    expect(await threeBrowsers(origin)).toEqual(LAST_TWO)
  })

  it('would not do so without sessmgr', async () => {
    const origin = await start('readme-without.mjs', programWith(quickStart.replaceAll(/^.*limiter.*\n/gm, '')))
    expect(await threeBrowsers(origin)).toEqual(Array(3).fill('You are alice.'))
  })

  it.each([
    ['PostgreSQL', postgresLines],
    ['Redis', redisLines],
  ])('do so with %s', async (name, store) => {
    const limited = either.replace('maximum: 2', "maximum: 2, logic: 'logout_oldest'")
    const lines = `${store}${limited}app.use(passport.session())\n`
    const origin = await start(`readme-${name}.mjs`, programWith(lines), await startServer(name))
    expect(await threeBrowsers(origin)).toEqual(LAST_TWO)
  })
})

describe.each(programs)('the program $name of docs/getting-started.md', ({ name, code }) => {
  it.each([
    ['mjs', code],
    ['cjs', asCommonJs(code)],
  ])(
    'lets the last two of three browsers stay signed in, and sends a wrong password back, as .%s',
    async (as, text) => {
      const origin = await start(`${name}.${as}`, text)
      const body = new URLSearchParams({ username: 'alice', password: 'wrong' })
      const answer = await fetch(`${origin}/login`, { method: 'POST', body })
      expect([answer.url, await answer.text()]).toEqual([`${origin}/login`, expect.stringContaining('<form')])
      expect(await pageOf(origin)).toBe('You are not signed in.')
      expect(await threeBrowsers(origin)).toEqual(LAST_TWO)
    },
  )

  it.each([
    ['PostgreSQL', postgresLines],
    ['Redis', redisLines],
  ])('holds the limit over two processes with the lines for %s, one as .mjs and one as .cjs', async (store, lines) => {
    const esm = withStores(code, lines, limiterLine)
    expect(esm.match(/sessionStore =/g)).toHaveLength(1)
    const env = await startServer(store)
    // One after the other: connect-pg-simple cannot create its table twice at once.
    const first = await start(`${name}-${store}.mjs`, esm, env)
    const second = await start(`${name}-${store}.cjs`, asCommonJs(esm), env)
    const origins = [first, second] as const
    expect(await threeBrowsers(...origins)).toEqual(LAST_TWO)
  })
})

it('a login route with the lines for Remember Me lets the cookie live as long as its filter says', async () => {
  const [{ code } = { code: '' }] = programs
  const route = `app.post('/login', passport.authenticate('local', { failureRedirect: '/login' }), async (req, res) => {
    ${rememberMe}
    res.redirect('/')
  })`
  const origin = await start(
    'remember-me.mjs',
    code.replace(/^app\.post\('\/login'.*\n/m, () => `${route}\n`),
  )
  for (const [fields, days] of [
    [{ remember: 'on' }, 14],
    [{}, 2],
  ] as const) {
    const cookie = await signIn(origin, fields)
    expect(await pageOf(origin, cookie)).toBe('You are alice.')
    const expires = Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? '')
    expect(Math.round((expires - Date.now()) / 86_400_000)).toBe(days)
  }
})

it.each([0, 1])(
  'after the change of password of docs/sign-out.md one browser stays signed in: program %s',
  async (which) => {
    const [route = '', ownLogin = ''] = blocksOf('docs/sign-out.md', 'After a password change')
    const adapted = route
      .replace(' || !req.user', '')
      .replace(
        / req\.logIn\(.*/,
        ownLogin.replaceAll('(userId)', '(current.userId)').replace('id: userId', 'id: current.userId'),
      )
    const { name = '', code = '' } = programs[which] ?? {}
    const lines = `const requireSignIn = (req, res, next) => next()\n${which === 0 ? route : adapted}\napp.listen(`
    const origin = await start(
      `${name}-password.mjs`,
      code.replace('app.listen(', () => lines),
    )
    const [own, other] = [await signIn(origin), await signIn(origin)]
    const answer = await fetch(`${origin}/password`, { method: 'POST', headers: { cookie: own.split(';')[0] ?? '' } })
    expect(answer.status).toBe(204)
    const fresh = answer.headers.getSetCookie()[0]
    const pages = await Promise.all([fresh, own, other].map((cookie) => pageOf(origin, cookie)))
    expect(pages).toEqual(['You are alice.', 'You are not signed in.', 'You are not signed in.'])
  },
)

it('the programs and the add-on of docs/blog/add-ons.md compile as `tsc --init` has it, as ES modules and as CommonJS', () => {
  const { code = '' } = programs[1] ?? {}
  const [addOn = ''] = blocksOf('docs/blog/add-ons.md', 'Writing one')
  const texts = programs.flatMap(({ name, code, declaration }) => [
    [`${name}-typed`, `${code}\n${declaration}`],
    [`${name}-typed-redis`, `${withStores(code, redisLines, limiterLine)}\n${declaration}`],
    [`${name}-typed-postgres`, `${withStores(code, postgresLines, limiterLine)}\n${declaration}`],
  ])
  expect(texts).toHaveLength(6)
  const right = { ...Object.fromEntries(texts), 'add-on': addOn }
  const wrong = { wrong: `${addOn}\nconst here = import.meta.dirname` }
  expect(compileAsNewcomer(folder, { ...right, ...wrong })).toEqual([
    expect.stringMatching(/^wrong\.cts: .*'import\.meta'/),
  ])
  expect(compileAsNewcomer(folder, { undeclared: code })).toEqual([
    expect.stringMatching(/^undeclared\.mts: .*'userId' does not exist/),
    expect.stringMatching(/^undeclared\.mts: .*'userId' does not exist/),
    expect.stringMatching(/^undeclared\.cts: .*'userId' does not exist/),
    expect.stringMatching(/^undeclared\.cts: .*'userId' does not exist/),
  ])
}, 240_000)
