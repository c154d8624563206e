// Shows how far one login and one signed-in GET walk through src/ on each framework: how many functions of src/ they
// enter (calls), in how many files (files), and how often a function is in another file than the one before (borders).
// Below that: how large src/ and test/ are, and the circles of files.
// A walk starts when a request is sent, and ends two turns of the event loop after its response. Another user has signed
// in before, so a walk does not include what happens once per process. The shortest of seven walks counts, because a
// timer may run during the others. Only four entry points of src/ are measured.
//   node scripts/count-walks.mjs [--list]     --list also shows the files and functions of every walk and circle
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
import { esbuildLua } from './lua-text.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src/')
const isListed = process.argv.includes('--list')
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
  const plugins = [esbuildAssets, esbuildLua, entries]
  await build({ stdin, outfile, plugins, bundle: true, packages: 'external', platform: 'node', format: 'esm' })
  return import(pathToFileURL(outfile).href)
}

const { sessmgr, memoryStore, fastifySessmgr, koaSessmgr, explicitCalls } = await loadDoors()
const secret = 'a secret of no importance, and long enough'
const logger = { warn() {}, error: console.error }
const newLimiter = (sessionStore) => sessmgr({ store: memoryStore(), sessionStore, logger, settings: { maximum: 2 } })
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
    app.use(newLimiter(store), authentication.session(), express.urlencoded({ extended: false }))
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

/** Sends one request, and returns the functions that it entered. */
async function walk(url, user, init) {
  const entered = []
  Object.assign(globalThis, { __enter: (file, name) => entered.push({ file, name }) })
  const response = await fetch(url, init)
  const answer = await response.text()
  for (const _turn of [1, 2]) await setImmediate()
  Object.assign(globalThis, { __enter: undefined })
  if (answer !== user) throw new Error(`${url} answered ${response.status} ${answer} to ${user}`)
  return { entered, cookie: response.headers.getSetCookie().map((it) => it.split(';')[0]) }
}

async function walksOf(origin, user) {
  const body = new URLSearchParams({ username: user, password: 'right' })
  const login = await walk(`${origin}/login`, user, { method: 'POST', body })
  return { login, GET: await walk(origin, user, { headers: { cookie: login.cookie.join('; ') } }) }
}

console.log('host     walk    calls  files  borders')
for (const [host, start] of Object.entries(hosts)) {
  const server = createServer(await start()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${Object(server.address()).port}`
  await walksOf(origin, 'bob')
  const walks = []
  for (const user of ['alice', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'])
    walks.push(await walksOf(origin, user))
  for (const kind of ['login', 'GET']) {
    const [{ entered }] = walks.map((them) => them[kind]).sort((a, b) => a.entered.length - b.entered.length)
    const files = [...new Set(entered.map(({ file }) => file))]
    const changes = entered.map(({ file }, n) => file !== entered[n - 1]?.file)
    const borders = changes.slice(1).filter(Boolean).length // the first function entered crosses none
    const [a, b, c] = [entered.length, files.length, borders].map((figure) => `${figure}`.padStart(7))
    console.log(host.padEnd(8), kind.padEnd(5), a, b, c)
    if (!isListed) continue
    for (const one of files) console.log(`${entered.filter(({ file }) => file === one).length}`.padStart(6), one)
    console.log(entered.map(({ file, name }, n) => `${changes[n] ? `\n       ${file}:` : ''} ${name}`).join(''))
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
console.log(`lines of src: ${lines('src', filesOf('src', /\.(tsx?|lua|css)$/))}`)
console.log(`lines of test: ${lines('test', filesOf('test', /\.ts$/))}`)
console.log(`files of src under 12 lines, without src/browser: ${small.length}`)
console.log(`circles of files in src: ${circles.length}, with files: ${circles.map((it) => it.split(' ').length)}`)
if (isListed) console.log(circles.join('\n'))
