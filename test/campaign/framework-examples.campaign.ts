import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { folderOfNode } from '../../scripts/node-binaries.mjs'
import { untilAnswered } from '../../scripts/until-answered.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** What is installed for the examples stays here. Next.js does not build what is below a folder `node_modules`. */
const CACHE = join(tmpdir(), 'sessmgr-examples')
// SvelteKit 3 does not run on Node 20.
const PATH = [folderOfNode('24'), process.env.PATH].join(delimiter)

let tarball: string
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-examples-'))
  run(ROOT, 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder)
  tarball = join(folder, 'sessmgr.tgz')
  run(folder, 'sh', '-c', `mv sessmgr-*.tgz ${tarball}`)
  return () => rmSync(folder, { recursive: true, force: true })
}, 120_000)

function run(cwd: string, program: string, ...parameters: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, parameters, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, PATH, NODE_ENV: 'production', ORIGIN: undefined },
  })
  if (status !== 0) throw new Error(`${program} ${parameters.join(' ')}: ${stdout}${stderr}`)
}

/** Copies an example, and installs what it needs and this package, as users get it. */
function install(name: string, files = join(ROOT, 'examples', name)): string {
  const folder = join(CACHE, name)
  mkdirSync(folder, { recursive: true })
  cpSync(files, folder, { recursive: true })
  run(folder, 'npm', 'install', '--no-audit', '--no-fund', '--no-save', '--include=dev', tarball)
  return folder
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return String(port)
}

/** Starts a built application until the test has finished. */
async function start(folder: string, port: string, parameters: string[], env: Record<string, string> = {}) {
  const child: ChildProcess = spawn('node', parameters, {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, PATH, NODE_ENV: 'production', PORT: port, HOST: '127.0.0.1', ...env },
  })
  onTestFinished(() => void child.kill())
  const origin = `http://127.0.0.1:${port}`
  await untilAnswered(origin)
  return origin
}

/** Signs in twenty times at once. Returns the cookies of those that are live, and of one that is not. */
async function signInAtOnce(origin: string, path: string) {
  const body = new URLSearchParams({ username: 'ada', password: 'secret' })
  const logIn = async () => {
    const headers = { origin, accept: 'text/html', 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140' }
    const answer = await fetch(origin + path, { method: 'POST', body, headers, redirect: 'manual' })
    return answer.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';', 1)[0])
      .join('; ')
  }
  const cookies = await Promise.all(Array.from({ length: 20 }, logIn))
  const isLive = async (cookie: string) => (await see(origin, cookie)).includes('You are signed in as ada.')
  const states = await Promise.all(cookies.map(isLive))
  const live = cookies.filter((_, index) => states[index])
  return { live, ended: cookies.find((_, index) => !states[index]) ?? '', isLive }
}

async function see(origin: string, cookie: string, path = '/'): Promise<string> {
  const answer = await fetch(origin + path, { headers: { cookie }, redirect: 'manual' })
  return (await answer.text()).replaceAll(/<!--.*?-->/g, '')
}

/** Ends the other session on the page of devices, as a browser does and as another site tries. */
async function endOther(origin: string, cookie: string) {
  const page = await see(origin, cookie, '/devices')
  const proof = /name="proof" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const end = /name="end" value="(\w+)"/.exec(page)?.[1] ?? ''
  const body = new URLSearchParams({ proof, end })
  const post = (from: string) =>
    fetch(`${origin}/devices`, { method: 'POST', body, headers: { cookie, origin: from }, redirect: 'manual' })
  return [(await post('https://evil.test')).status, (await post(origin)).status]
}

async function expectExact(origin: string, path: string) {
  const { live, ended, isLive } = await signInAtOnce(origin, path)
  expect(live).toHaveLength(2)
  const [one = '', two = ''] = live
  expect(await endOther(origin, one)).toEqual([403, 303])
  expect([await isLive(one), await isLive(two)]).toEqual([true, false])
  return { one, ended }
}

describe('Next.js', () => {
  test.each([
    ['bundles sessmgr', ''],
    ['leaves sessmgr outside the bundle', "export default { serverExternalPackages: ['sessmgr'] }\n"],
  ])('with one limiter for handlers, components and the proxy: it %s', { timeout: 600_000 }, async (_, config) => {
    const folder = install('next')
    rmSync(join(folder, '.next'), { recursive: true, force: true })
    writeFileSync(join(folder, 'next.config.mjs'), config || 'export default {}\n')
    run(folder, 'npm', 'run', 'build')
    const port = await freePort()
    const next = ['node_modules/next/dist/bin/next', 'start', '--hostname', '127.0.0.1', '--port', port]
    const origin = await start(folder, port, next, { PLAIN_HTTP: '1' })
    const { one, ended } = await expectExact(origin, '/login')
    expect(await see(origin, one, '/private')).toContain('Only for users.')
    expect(await see(origin, ended, '/private')).not.toContain('Only for users.')
    await fetch(`${origin}/me`, { method: 'DELETE', headers: { cookie: one } })
    expect(await see(origin, one, '/me')).toBe('{"user":null}')
  })
})

test('SvelteKit', { timeout: 600_000 }, async () => {
  const folder = install('sveltekit')
  const port = await freePort()
  run(folder, 'sh', '-c', `ORIGIN=http://127.0.0.1:${port} npm run build`)
  await expectExact(await start(folder, port, ['build']), '/')
})

test('h3', { timeout: 600_000 }, async () => {
  const files = mkdtempSync(join(tmpdir(), 'sessmgr-h3-'))
  onTestFinished(() => rmSync(files, { recursive: true, force: true }))
  writeFileSync(join(files, 'package.json'), '{"private":true,"type":"module","dependencies":{"h3":"2.0.8"}}')
  writeFileSync(join(files, 'app.mjs'), H3_APP)
  const folder = install('h3', files)
  expect(existsSync(join(folder, 'node_modules/h3'))).toBe(true)
  await expectExact(await start(folder, await freePort(), ['app.mjs']), '/login')
})

const H3_APP = `
import { H3, getCookie, redirect, serve, setCookie } from 'h3'
import { sessmgr } from 'sessmgr'
import { fetchCalls } from 'sessmgr/fetch'
const sessions = new Map()
const limiter = sessmgr({ settings: { maximum: 2, logic: 'logout_oldest' } })
const calls = fetchCalls(limiter, { exists: (id) => sessions.has(id), destroy: (id) => sessions.delete(id) })
const devices = calls.serve('/devices', limiter.account())
const app = new H3()
app.use(async (event) => {
  const sessionId = getCookie(event, 'sid')
  const userId = sessions.get(sessionId)
  if (userId) event.context.state = await calls.check(event.req, { userId, sessionId })
})
app.get('/', (event) => event.context.state?.session ? 'You are signed in as ada.' : 'a form')
app.all('/devices', (event) => devices(event.req))
app.post('/login', async (event) => {
  const sessionId = crypto.randomUUID()
  const userId = (await event.req.formData()).get('username')
  await calls.login(event.req, { userId }, async () => {
    sessions.set(sessionId, userId)
    return { sessionId, ttlMs: 3_600_000 }
  })
  setCookie(event, 'sid', sessionId)
  return redirect('/')
})
serve(app, { port: Number(process.env.PORT), hostname: '127.0.0.1' })
`
