// Puts sessmgr between a project and its own tests. Their import of the project becomes between.<name>(project), and
// nothing else changes. One limiter guards each session store. NEIGHBOUR is a JSON object: `users` lets every session
// with content name one user, `named` names the session store, `settings` is the option.
const { join } = require('node:path')
const { Strategy } = require('passport')

const dist = join(__dirname, '..', '..', 'dist')
/** @type {(door: string) => any} */
const load = (door) => require(join(dist, `${door}.cjs`))
const { memoryStore, sessmgr } = load('index')

const { users = false, named = false, settings = { maximum: 1000 } } = JSON.parse(process.env.NEIGHBOUR ?? '{}')
const OWN_KEYS = ['cookie', '_expire', '_maxAge', '_sessCtx']
const nameUser = (data) => (Object.keys(data).some((key) => !OWN_KEYS.includes(key)) ? 7 : undefined)
const logger = { warn() {}, error() {} }
const limiters = new WeakMap()

function limiterOf(sessionStore, isNamed = named) {
  const known = limiters.get(sessionStore)
  if (known) return known
  const options = { store: memoryStore(), settings, logger }
  if (users) Object.assign(options, { sessionUser: nameUser })
  if (isNamed) Object.assign(options, { sessionStore })
  const limiter = sessmgr(options)
  limiters.set(sessionStore, limiter)
  return limiter
}

/** For express-session: every session middleware is followed by a limiter. */
function express(session) {
  const wrapped = (options) => {
    const store = options?.store ?? new session.MemoryStore()
    const own = session({ ...options, store })
    const limiter = limiterOf(store)
    return (request, response, next) =>
      own(request, response, (error) => (error ? next(error) : limiter(request, response, next)))
  }
  return Object.assign(wrapped, session)
}

/** For the class of a session store: every store is guarded from its construction on. */
function store(Store) {
  return new Proxy(Store, {
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget)
      limiterOf(made, true)
      return made
    },
  })
}

/** For connect-pg-simple, which makes a class. */
const storeMaker = (make) => (session) => store(make(session))

/** For Passport: before the tests, one user signs in through sessmgr with this very copy of Passport. */
async function passport(Passport) {
  const [makeApp, session] = [require('express'), require('express-session')]
  const app = makeApp()
  const own = new Passport()
  own.serializeUser((user, done) => done(null, user.id))
  own.deserializeUser((id, done) => done(null, { id }))
  /** @type {any} */
  const strategy = new Strategy()
  strategy.authenticate = function succeed() {
    this.success({ id: 7 })
  }
  own.use('sure', strategy)
  const store = new session.MemoryStore()
  app.use(
    session({ store, secret: 'secret', resave: false, saveUninitialized: false }),
    limiterOf(store),
    own.session(),
  )
  app.post('/', own.authenticate('sure'), (request, response) => response.json(/** @type {any} */ (request).sessmgr))
  const server = app.listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' })
  const body = await answer.text()
  server.closeAllConnections()
  server.close()
  if (!body.includes('token')) throw new Error(`sessmgr did not count a login: ${answer.status} ${body}`)
}

/** For @fastify/session: the plugin brings a limiter. */
function fastify(plugin) {
  const { fastifySessmgr } = load('fastify')
  const wrapped = async (server, options) => {
    await server.register(plugin, options)
    await server.register(fastifySessmgr, { limiter: limiterOf(options.store ?? {}) })
  }
  // fastify-plugin sets the same symbol.
  wrapped[Symbol.for('skip-override')] = true
  return Object.assign(wrapped, { ...plugin, fastifySession: wrapped, default: wrapped })
}

/** For koa-session: a session middleware with the option `store` is followed by a limiter. */
function koa(session) {
  const { koaSessmgr } = load('koa')
  return (...args) => {
    const own = session(...args)
    const app = args.find((it) => typeof it?.use === 'function')
    const { store: found, ContextStore } = Object.create(app.context).sessionOptions
    if (!found || ContextStore) return own
    const limit = koaSessmgr(limiterOf(found), app)
    return (ctx, next) => own(ctx, () => limit(ctx, next))
  }
}

module.exports = { express, store, storeMaker, passport, fastify, koa }
