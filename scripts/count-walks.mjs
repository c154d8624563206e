// Shows how far ten walks go through src/: how many functions of src/ they enter (calls), in how many files (files), and
// how often a function is in another file than the one before (borders). The walks are a login and a signed-in GET on
// each framework, `sessions.endAll`, and the REST call that ends a session.
// Below that: how large src/ and test/ are, and the circles of files.
// A walk starts when a request is sent, and ends two turns of the event loop after its response. Another user has signed
// in before, so a walk does not include what happens once per process. The shortest of seven walks counts, because a
// timer may run during the others. Only four entry points of src/ are measured.
//   node scripts/count-walks.mjs [--list | --json]
//   --list   also shows the files and functions of every walk and circle
//   --json   prints the figures for scripts/check-budgets.mjs
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import fastifyCookie from '@fastify/cookie'
import fastifyFormbody from '@fastify/formbody'
import fastifyPassport from '@fastify/passport'
import fastifySession from '@fastify/session'
import { build } from 'esbuild'
import express from 'express'
import expressSession from 'express-session'
import Fastify from 'fastify'
import Koa from 'koa'
import koaBody from 'koa-bodyparser'
import { KoaPassport } from 'koa-passport'
import koaSession from 'koa-session'
import passport from 'passport'
import { Strategy } from 'passport-local'
import ts from 'typescript'
import { esbuildAssets } from './browser-assets.mjs'
import { esbuildLate } from './late-modules.mjs'
import { esbuildLua } from './lua-text.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src/')
const isListed = process.argv.includes('--list')
const isForBudgets = process.argv.includes('--json')
const print = isForBudgets ? () => {} : console.log
const parse = (path) => ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)

/** Makes every function of a source report its file and name when it is entered. */
function instrument(path) {
  const source = parse(path)
  const inserts = []
  const visit = (node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const { body } = node
      const name = (node.name ?? Object(node.parent).name)?.getText() ?? '=>'
      const call = `globalThis.__enter?.(${JSON.stringify(relative(src, path))}, ${JSON.stringify(name)})`
      const above = ts.isBlock(body) && body.statements.find((it) => /^super\(/.test(it.getText()))
      if (above) inserts.push([above.end, `;${call};`])
      else if (ts.isBlock(body)) inserts.push([body.getStart() + 1, `${call};`])
      else inserts.push([body.getStart(), `(${call},(`], [body.end, '))'])
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  inserts.sort(([a], [b]) => a - b)
  const pieces = inserts.map(([at, insert], n) => source.text.slice(inserts[n - 1]?.[0] ?? 0, at) + insert)
  return pieces.join('') + source.text.slice(inserts.at(-1)?.[0] ?? 0)
}

/** Bundles the entry points together, so that they share their modules, and loads them. */
async function loadDoors() {
  const folder = join(root, 'node_modules', '.cache', `count-walks-${process.pid}`)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, 'doors.mjs')
  const doors = ['index', 'fastify', 'koa', 'explicit'].map((door) => `export * from './src/${door}.ts'`)
  const stdin = { contents: doors.join('\n'), resolveDir: root }
  const load = ({ path }) => (path.startsWith(src) ? { contents: instrument(path), loader: 'ts' } : undefined)
  const entries = { name: 'entries', setup: ({ onLoad }) => onLoad({ filter: /\.ts$/ }, load) }
  const plugins = [esbuildAssets, esbuildLate, esbuildLua, entries]
  await build({ stdin, outfile, plugins, bundle: true, packages: 'external', platform: 'node', format: 'esm' })
  return import(pathToFileURL(outfile).href)
}

const { sessmgr, memoryStore, fastifySessmgr, koaSessmgr, explicitCalls } = await loadDoors()
const secret = 'a secret of no importance, and long enough'
const logger = { warn() {}, error: console.error }
const ADMIN = 'root'
const asUser = (id) => ({ id, login: id, display_name: id, email: '' })
const host = {
  can: (user) => user?.id === ADMIN,
  users: { findById: asUser, findByLogin: asUser, findByEmail: () => null, summary: (user) => user },
}
const newLimiter = (sessionStore) =>
  sessmgr({ store: memoryStore(), sessionStore, logger, host, settings: { maximum: 2 } })
const limiters = {}
const strategy = new Strategy((id, password, done) => done(null, password === 'right' && { id }))
function withUsers(authentication) {
  authentication.serializeUser((user, done) => done(null, user.id))
  authentication.deserializeUser((id, done) => done(null, { id }))
  return authentication.use(strategy)
}

/** Applications with `POST /login` and `GET /`, which return the user's name. */
const hosts = {
  Express() {
    const authentication = withUsers(new passport.Passport())
    const store = new expressSession.MemoryStore()
    const answer = (req, res) => res.send(req.user?.id)
    const app = express().use(expressSession({ secret, store, resave: false, saveUninitialized: false }))
    const limiter = newLimiter(store)
    limiters.Express = limiter
    app.use(limiter, authentication.session(), express.urlencoded({ extended: false }))
    app.use('/api', limiter.router())
    app.get('/nonce', async (req, res) => void res.send(await limiter.nonce(req)))
    return app.post('/login', authentication.authenticate('local'), answer).get('/', answer)
  },
  async Fastify() {
    const authentication = new fastifyPassport.Authenticator().use('local', Object(strategy))
    authentication.registerUserSerializer(async (user) => Object(user).id)
    authentication.registerUserDeserializer(async (id) => ({ id }))
    const store = new (Object(fastifySession).MemoryStore)()
    const answer = async (request) => request.user?.id
    const app = Fastify().register(fastifyCookie).register(fastifyFormbody)
    const cookie = { secure: false, maxAge: 3_600_000 }
    app.register(fastifySession, { secret, store, saveUninitialized: false, cookie })
    app.register(fastifySessmgr, { limiter: newLimiter(store) })
    app.register(authentication.initialize()).register(authentication.secureSession())
    app.post('/login', { preValidation: authentication.authenticate('local') }, answer).get('/', answer)
    await app.ready()
    return app.routing
  },
  Koa() {
    const authentication = withUsers(new KoaPassport())
    const sessions = new Map()
    const [get, set] = [async (id) => sessions.get(id), async (id, session) => sessions.set(id, session)]
    const store = { get, set, destroy: async (id) => sessions.delete(id) }
    const app = Object.assign(new Koa(), { keys: [secret] })
    app.use(koaSession(Object({ store }), app)).use(koaSessmgr(newLimiter(), app))
    app.use(authentication.initialize()).use(authentication.session()).use(koaBody())
    app.use((ctx, next) => (ctx.path === '/login' ? authentication.authenticate('local')(ctx, next) : next()))
    return app.use((ctx) => void Object.assign(ctx, { body: ctx.state.user?.id })).callback()
  },
  Explicit() {
    const sessions = new Map()
    const calls = explicitCalls(newLimiter(), {
      exists: (id) => sessions.has(id),
      destroy: (id) => sessions.delete(id),
    })
    return async (request, response) => {
      const earlier = /sid=([^;]+)/.exec(request.headers.cookie ?? '')?.[1]
      const own = sessions.get(earlier)
      const state = own && (await calls.check({ userId: own, sessionId: earlier, request }))
      if (request.method === 'GET') return response.end(state?.session?.userId)
      const userId = new URLSearchParams(await text(request)).get('username')
      const session = { sessionId: crypto.randomUUID(), ttlMs: 3_600_000 }
      const create = async () => sessions.set(session.sessionId, userId) && session
      await calls.login({ userId, replaces: earlier, state }, create)
      response.setHeader('set-cookie', `sid=${session.sessionId}; HttpOnly`).end(userId)
    }
  },
}

/** Runs a task, and returns the functions that it entered. */
async function follow(task) {
  const entered = []
  Object.assign(globalThis, { __enter: (file, name) => entered.push({ file, name }) })
  const result = await task()
  for (const _turn of [1, 2]) await setImmediate()
  Object.assign(globalThis, { __enter: undefined })
  return { entered, result }
}

async function walk(url, user, init) {
  const { entered, result } = await follow(async () => {
    const response = await fetch(url, init)
    return { response, answer: await response.text() }
  })
  const { response, answer } = result
  if (!answer.includes(user)) throw new Error(`${url} answered ${response.status} ${answer} to ${user}`)
  return { entered, cookie: response.headers.getSetCookie().map((it) => it.split(';')[0]), answer }
}

async function walksOf(origin, user) {
  const body = new URLSearchParams({ username: user, password: 'right' })
  const login = await walk(`${origin}/login`, user, { method: 'POST', body })
  const headers = { cookie: login.cookie.join('; ') }
  // The first request of a session does more: it takes the session up.
  await walk(origin, user, { headers })
  return { login, GET: await walk(origin, user, { headers }) }
}

/** An administrator ends sessions of other users: all with a method, and one with a REST call. */
async function endingsOf(origin, limiter, user) {
  await walksOf(origin, user)
  const all = await follow(() => limiter.sessions.endAll(user))
  if (!(all.result > 0)) throw new Error(`sessions.endAll() ended ${all.result} sessions`)
  await walksOf(origin, user)
  const [{ token }] = await limiter.sessions.list(user)
  const admin = await walk(`${origin}/login`, ADMIN, {
    method: 'POST',
    body: new URLSearchParams({ username: ADMIN, password: 'right' }),
  })
  const cookie = admin.cookie.join('; ')
  const { answer: nonce } = await walk(`${origin}/nonce`, '', { headers: { cookie } })
  const headers = { cookie, 'X-HOST-Nonce': nonce, 'content-type': 'application/json' }
  const body = JSON.stringify({ user, token })
  const one = await walk(`${origin}/api/sessmgr/v1/sessions/destroy`, '', { method: 'POST', headers, body })
  if ((await limiter.sessions.count(user)) !== 0) throw new Error(`The REST call answered ${one.answer}`)
  return { 'sessions.endAll': all, 'REST end of a session': one }
}

const USERS = ['alice', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi']
const figures = { walks: {} }

function report(name, walks) {
  const [{ entered }] = walks.sort((a, b) => a.entered.length - b.entered.length)
  const files = [...new Set(entered.map(({ file }) => file))]
  const changes = entered.map(({ file }, n) => file !== entered[n - 1]?.file)
  const borders = changes.slice(1).filter(Boolean).length // the first function entered crosses none
  figures.walks[name] = { calls: entered.length, files: files.length, borders }
  print(name.padEnd(21), ...Object.values(figures.walks[name]).map((figure) => `${figure}`.padStart(7)))
  if (!isListed) return
  for (const one of files) print(`${entered.filter(({ file }) => file === one).length}`.padStart(6), one)
  print(entered.map(({ file, name: entry }, n) => `${changes[n] ? `\n       ${file}:` : ''} ${entry}`).join(''))
}

print('walk                    calls   files borders')
for (const [host, start] of Object.entries(hosts)) {
  const server = createServer(await start()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${Object(server.address()).port}`
  await walksOf(origin, 'bob')
  const walks = []
  for (const user of USERS) walks.push(await walksOf(origin, user))
  for (const kind of ['login', 'GET'])
    report(
      `${host} ${kind}`,
      walks.map((them) => them[kind]),
    )
  if (host === 'Express') {
    await endingsOf(origin, limiters.Express, 'bob')
    const endings = []
    for (const user of USERS) endings.push(await endingsOf(origin, limiters.Express, user))
    for (const kind of Object.keys(endings[0]))
      report(
        kind,
        endings.map((them) => them[kind]),
      )
  }
  server.close().closeAllConnections()
}

const filesOf = (folder, names) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((path) => names.test(path))
const lines = (folder, paths) =>
  paths.reduce((sum, path) => sum + readFileSync(join(root, folder, path), 'utf8').split('\n').length - 1, 0)
const sources = filesOf('src', /\.tsx?$/)
const small = sources.filter((path) => !/^browser[/\\]/.test(path) && lines('src', [path]) < 12)
// A circle: files that all reach each other through imports, including type imports and import().
const reached = Object.fromEntries(sources.map((path) => [path, new Set()]))
for (const path of sources) {
  const visit = (node) => {
    const target = ts.isStringLiteralLike(node) && /^\.\.?\//.test(node.text) && join(dirname(path), node.text)
    if (target && target in reached) reached[path].add(target)
    ts.forEachChild(node, visit)
  }
  visit(parse(join(src, path)))
}
for (const files of Object.values(reached)) for (const file of files) for (const it of reached[file]) files.add(it)
const circleOf = (path) => sources.filter((other) => reached[path].has(other) && reached[other].has(path)).join(' ')
const circles = [...new Set(sources.map(circleOf))].filter((circle) => circle.includes(' '))
const size = (folder, names) => {
  const paths = filesOf(folder, names)
  return { lines: lines(folder, paths), files: paths.length }
}
figures.src = size('src', /\.(tsx?|lua|css)$/)
figures.test = size('test', /\.ts$/)
for (const folder of ['src', 'test'])
  print(`${folder}: ${figures[folder].lines} lines in ${figures[folder].files} files`)
print(`files of src under 12 lines, without src/browser: ${small.length}`)
print(`circles of files in src: ${circles.length}, with files: ${circles.map((it) => it.split(' ').length)}`)
if (isListed) print(circles.join('\n'))
if (isForBudgets) console.log(JSON.stringify(figures))
