import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import express, { type Express } from 'express'
import session from 'express-session'
import { type Sessmgr, sessmgr } from 'sessmgr'
import { liveConnections } from 'sessmgr/live'
import { createAddons } from './addons.ts'
import { createAuthentication } from './authentication.ts'
import type { Config } from './config.ts'
import { errorHandler } from './error-handler.ts'
import { logHooks } from './hooks-log.ts'
import { createHost, may } from './host.ts'
import { createPosts } from './posts.ts'
import { liveRoutes } from './routes/live.ts'
import { loginRoutes } from './routes/login.ts'
import { noteRoutes } from './routes/note.ts'
import { postRoutes } from './routes/posts.ts'
import { userRoutes } from './routes/users.ts'
import { seedSessions } from './seed-sessions.ts'
import { createStorage } from './storage.ts'
import { createUsers } from './users.ts'

const ADMIN_ID = 1
/** Users whose login is older than this must sign in again before they end a session. */
const FRESH_SECONDS = 15 * 60
const SEEDED = 'seeded at the start'

/**
 * Creates an application password with a known value for the administrator. Creates only one, even if the app is
 * restarted or runs in several processes.
 */
async function seedAppPassword(limiter: Sessmgr, password: string): Promise<void> {
  try {
    const isKnown = await limiter.passwords.verify(ADMIN_ID, password)
    if (!isKnown) await limiter.passwords.create(ADMIN_ID, SEEDED, password)
  } catch (error) {
    console.error(`SEED_APP_PASSWORD could not be stored: ${error instanceof Error ? error.message : error}`)
  }
}

/** Creates the example application: a small blog that limits the sessions of each account. */
export async function createApp(config: Config): Promise<{ app: Express; limiter: Sessmgr; close(): Promise<void> }> {
  const users = createUsers(config)
  const posts = createPosts()
  const authentication = createAuthentication(users)
  const storage = createStorage(config)
  const addons = createAddons(config)
  const limiter = sessmgr({
    licensing: addons?.licensing,
    site: config.site,
    store: storage.store,
    sessionStore: storage.sessionStore,
    host: createHost(users, posts),
    settings: config.settings,
    directory: config.directory,
    audit: config.audit,
  })
  if (config.hooksLog) logHooks(limiter.hooks, config.hooksLog)
  if (config.appPassword) await seedAppPassword(limiter, config.appPassword)

  const app = express()
  app.disable('x-powered-by')
  app.set('views', fileURLToPath(new URL('./views', import.meta.url)))
  app.set('view engine', 'ejs')
  app.use(express.static(fileURLToPath(new URL('./public', import.meta.url))))
  if (addons) app.use(addons.add(limiter))
  const sessions = session({
    store: storage.sessionStore,
    secret: config.sessionSecret,
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', secure: 'auto' },
  })
  app.use(sessions, limiter)
  app.use('/api', limiter.router())
  app.use('/admin', limiter.admin())
  app.use('/account/sessions', limiter.account({ stepUp: { freshFor: FRESH_SECONDS } }))
  app.use(express.urlencoded({ extended: false }), express.json())
  app.use(authentication.session())
  app.use(async (req, res, next) => {
    res.locals.user = req.user
    res.locals.mayManage = req.user && may(req.user, 'manage_options')
    res.locals.notice = await limiter.notice(req, res)
    res.locals.returnTo = req.method === 'GET' ? req.originalUrl : undefined
    // Without this, the browser's back button would still show the user's pages after they have signed out.
    if (req.user) res.set('Cache-Control', 'private, no-cache')
    next()
  })

  app.use(loginRoutes(authentication, limiter, users))
  const live = liveConnections(limiter)
  app.use(noteRoutes(), userRoutes(users), liveRoutes(limiter, live, users))
  if (limiter.comments) app.use(postRoutes(posts, limiter.comments))
  app.use((_req, res) => {
    res.status(404).render('message', { title: 'Not found', message: 'There is no such page.' })
  })
  app.use(errorHandler)
  const isFirst = cluster.isPrimary || cluster.worker?.id === 1
  if (config.seedSessions > 0 && isFirst) {
    seedSessions(config.seedSessions, users.all, limiter, [sessions, limiter, authentication.session()]).catch(
      (error) => console.error(`SEED_SESSIONS: ${error.message}`),
    )
  }

  async function close(): Promise<void> {
    await live.close()
    await limiter.close()
    await storage.close()
  }
  return { app, limiter, close }
}
