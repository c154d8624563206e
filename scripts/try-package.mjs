// Installs the packed package into an empty folder, and lets two browsers sign in where one session is allowed:
// `node scripts/try-package.mjs [npm|pnpm|yarn|pnp] [tarball]`. Without a tarball, takes the one in the working folder.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const [manager = 'npm', given = readdirSync('.').find((name) => /^sessmgr-.*\.tgz$/.test(name))] = process.argv.slice(2)
if (!given) throw new Error('There is no tarball here. Run npm pack first.')
const tarball = resolve(given).replaceAll('\\', '/')
const dependencies = { express: '5', 'express-session': '1', sessmgr: `file:${tarball}` }

const YARN = ['npx', '--yes', '@yarnpkg/cli-dist@4']
const ways = {
  npm: { install: ['npm', 'install', '--no-audit', '--no-fund'], node: ['node'] },
  // Not the newest, which needs a newer Node than this package.
  pnpm: { install: ['npx', '--yes', 'pnpm@10', 'install'], node: ['node'] },
  yarn: { install: [...YARN, 'install'], node: [...YARN, 'node'], linker: 'node-modules' },
  pnp: { install: [...YARN, 'install'], node: [...YARN, 'node'], linker: 'pnp' },
}
const way = ways[manager]
if (!way) throw new Error(`Unknown package manager ${manager}. It may be ${Object.keys(ways).join(', ')}.`)

const PROGRAM = `
import express from 'express'
import session from 'express-session'
import { sessmgr } from 'sessmgr'

const app = express()
const sessionStore = new session.MemoryStore()
app.use(session({ store: sessionStore, secret: 'change me', resave: false, saveUninitialized: false }))
const limiter = sessmgr({ sessionStore, sessionUser: (data) => data.userId })
app.use(limiter)
app.post('/login', async (req, res) => {
  await limiter.login(req, { id: 'alice' })
  req.session.userId = 'alice'
  req.session.save(() => res.end())
})
app.get('/', (req, res) => res.end(req.session.userId ?? 'nobody'))

const server = app.listen(0, '127.0.0.1', async () => {
  const origin = 'http://127.0.0.1:' + server.address().port
  const cookies = []
  for (const _ of [1, 2]) {
    const { headers } = await fetch(origin + '/login', { method: 'POST' })
    cookies.push(headers.getSetCookie()[0].split(';')[0])
  }
  const seen = await Promise.all(cookies.map(async (cookie) => (await fetch(origin, { headers: { cookie } })).text()))
  console.log(process.version, seen.join(', '))
  process.exit(seen.join() === 'nobody,alice' ? 0 : 1)
})
`

const folder = mkdtempSync(join(tmpdir(), 'sessmgr-try-'))
try {
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'tried', private: true, type: 'module', dependencies }),
  )
  if (way.linker) writeFileSync(join(folder, '.yarnrc.yml'), `nodeLinker: ${way.linker}\nenableGlobalCache: false\n`)
  if (way.linker) writeFileSync(join(folder, 'yarn.lock'), '')
  writeFileSync(join(folder, 'try.mjs'), PROGRAM)
  run(way.install)
  run([...way.node, 'try.mjs'])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function run([program = '', ...parameters]) {
  const { status } = spawnSync(program, parameters, {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`${program} ${parameters.join(' ')} failed.`)
}
