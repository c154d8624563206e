import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Browser } from '../support/browser.ts'
import { printFigures } from '../support/print-figures.ts'
import { AGENTS } from '../support/user-agents.ts'

const root = join(import.meta.dirname, '../..')
/** As a dependency, it would cost every contributor 150 MB. */
const folder = join(root, 'node_modules/.cache/workerd')

let worker: { readonly ready: Promise<URL>; dispose(): Promise<void> }
let origin: string

beforeAll(async () => {
  const { Miniflare } = await import(pathToFileURL(install()).href)
  const script = await bundle()
  printFigures('examples/workers', { 'kB of gzip': Math.round(gzipSync(script).length / 1024) })
  worker = new Miniflare({
    modules: true,
    script,
    compatibilityDate: '2026-04-01',
    compatibilityFlags: ['nodejs_compat'],
    bindings: { SESSMGR_SECRET: 'x'.repeat(40) },
    durableObjects: { ROWS: { className: 'Rows', useSQLite: true } },
  })
  origin = (await worker.ready).origin
}, 300_000)
afterAll(() => worker?.dispose())

function install(): string {
  const path = join(folder, 'node_modules/miniflare/dist/src/index.js')
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', 'miniflare@4'], { cwd: folder })
  if (status !== 0) throw new Error('npm could not install miniflare.')
  return path
}

/** Bundles the example with the built package, as wrangler does. */
async function bundle(): Promise<string> {
  const doors = ['fetch', 'document'].map((name) => [`sessmgr/${name}`, join(root, `dist/${name}.js`)])
  const { outputFiles } = await build({
    entryPoints: [join(root, 'examples/workers/worker.mjs')],
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

it('of 20 logins at once, each in a request with a limiter of its own, one is live, and the others know why', async () => {
  const headers = { 'user-agent': AGENTS.windows, accept: 'text/html' }
  const form = { username: 'alice', password: 'secret' }
  for (let round = 0; round < 10; round++) {
    const browsers = Array.from({ length: 20 }, () => new Browser(origin))
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
