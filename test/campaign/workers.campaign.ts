import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'
import { installPackages } from '../support/install-packages.ts'
import { printFigures } from '../support/print-figures.ts'
import { AGENTS } from '../support/user-agents.ts'

const root = join(import.meta.dirname, '../..')

interface Worker {
  readonly ready: Promise<URL>
  dispose(): Promise<void>
}

const workers: Worker[] = []
let example: string
let ways: string

beforeAll(async () => {
  const script = await bundle('examples/workers/worker.mjs')
  printFigures('examples/workers', { 'kB of gzip': Math.round(gzipSync(script).length / 1024) })
  example = await start(script)
  ways = await start(await bundle('test/campaign/worker-ways.mjs'), { SITE: { className: 'Site', useSQLite: true } })
}, 300_000)
afterAll(() => Promise.all(workers.map((worker) => worker.dispose())))

/** Runs a Worker in workerd, and resolves to its origin. */
async function start(script: string, objects = {}): Promise<string> {
  const folder = installPackages('workerd', { miniflare: '4' })
  const { Miniflare } = await import(pathToFileURL(join(folder, 'node_modules/miniflare/dist/src/index.js')).href)
  const worker: Worker = new Miniflare({
    modules: true,
    script,
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['nodejs_compat'],
    bindings: { SESSMGR_SECRET: 'x'.repeat(40) },
    durableObjects: { ROWS: { className: 'Rows', useSQLite: true }, ...objects },
  })
  workers.push(worker)
  return (await worker.ready).origin
}

/** Bundles a Worker with the built package, as wrangler does. */
async function bundle(path: string): Promise<string> {
  const doors = ['fetch', 'document'].map((name) => [`sessmgr/${name}`, join(root, `dist/${name}.js`)])
  const { outputFiles } = await build({
    entryPoints: [join(root, path)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker', 'import'],
    external: ['cloudflare:*', 'node:*'],
    alias: Object.fromEntries([...doors, ['sessmgr', join(root, 'dist/index.js')]]),
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('file:///worker.js')" },
    plugins: [
      {
        name: 'node-prefix',
        setup({ onResolve }) {
          onResolve({ filter: /.*/ }, ({ path }) =>
            builtinModules.includes(path) ? { path: `node:${path}`, external: true } : undefined,
          )
        },
      },
    ],
    logLevel: 'error',
  })
  return String(outputFiles[0]?.text)
}

it('of 20 logins at once in the example, one is live, and the others know why', async () => {
  const headers = { 'user-agent': AGENTS.windows, accept: 'text/html' }
  const form = { username: 'alice', password: 'secret' }
  for (let round = 0; round < 10; round++) {
    const browsers = Array.from({ length: 20 }, () => new Browser(example))
    const logins = await Promise.all(browsers.map((browser) => browser.post('/login', form, headers)))
    expect(logins.map(({ status }) => status)).toEqual(browsers.map(() => 302))
    const pages = await Promise.all(browsers.map((browser) => browser.get('/', { headers })))
    const texts = pages.map(({ text }) => text)
    expect(texts.filter((text) => text === 'You are signed in.')).toHaveLength(1)
    expect(
      texts.filter((text) => text.includes('this account signed in on <bdi>Chrome on Windows</bdi>')),
    ).toHaveLength(19)
  }
})

/** Logs a user in 20 times at once, and returns the responses. */
function logIn(path: string, user: string): Promise<readonly Response[]> {
  const url = `${ways}${path}?user=${user}`
  return Promise.all(Array.from({ length: 20 }, () => fetch(url, { method: 'POST' })))
}

it.each([
  ['a limiter for each request', '/request'],
  ['one for all requests of a Durable Object', '/object'],
])('of 20 logins at once, two are live with %s', async (_name, path) => {
  for (let round = 0; round < 10; round++) {
    const user = `user-${round}`
    const sessions = await Promise.all((await logIn(path, user)).map((response) => response.text()))
    expect(new Set(sessions).size).toBe(20)
    const states = sessions.map(async (session) => {
      const response = await fetch(`${ways}${path}?user=${user}&session=${session}`)
      return response.text()
    })
    const found = await Promise.all(states)
    expect(found.filter((state) => state === 'live')).toHaveLength(2)
    expect(found.filter((state) => state === 'ended')).toHaveLength(18)
  }
})

it.each([
  ['a limiter', '/module'],
  ['a store', '/store'],
  ['a memory store', '/memory'],
])('%s for all requests is refused, and none of them hangs', async (_name, path) => {
  const responses = []
  for (let round = 0; round < 10; round++) responses.push(...(await logIn(path, 'carol')))
  const refused = responses.filter(({ status }) => status !== 200)
  // The request that has created it is served.
  expect(refused.length).toBeGreaterThanOrEqual(199)
  for (const response of refused) {
    expect(await response.text()).toContain('Create the store and the limiter in each request')
  }
})

it('a store that hangs ends each request with 503 by its deadline', async () => {
  const responses = await logIn('/hanging', 'dave')
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 503))
})
