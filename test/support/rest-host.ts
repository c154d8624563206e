import express5, { type Express } from 'express'
import session from 'express-session'
import express4 from 'express4'
import {
  type Host,
  memoryStore,
  type Sessmgr,
  type SessmgrOptions,
  type SessmgrStore,
  sessmgr,
  tokenOf,
} from '../../src/index.ts'
import { asServed } from './as-served.ts'
import { type FiredAction, recordActions } from './record-actions.ts'
import { basic, type RestAnswer, type RestCall, RestClient } from './rest-client.ts'
import { LICENSE_KEY, licensingOptions, registerAddons } from './rest-licensing.ts'
import { PASSWORD_ID } from './rest-routes.ts'
import { createRestUsers, type RestUser, restHostOf } from './rest-users.ts'
import { serve } from './serve.ts'
import { TestStore } from './test-store.ts'

const FORTNIGHT = 14 * 24 * 60 * 60_000

/** How the application is set up. */
export interface RestHostOptions {
  readonly sessmgr?: SessmgrOptions
  readonly attempts?: Host['attempts']
  /** Parts of `host` that differ. */
  readonly host?: Partial<Host>
  /** Whether to leave out `host`, so that users are unknown. */
  readonly withoutHost?: boolean
  /** Whether the application has an account page. @default true */
  readonly account?: boolean
  /** Whether the body parsers come before or after the router. */
  readonly parsers?: 'after' | 'before'
  readonly express?: 4 | 5
  /** Mounts what the application has beside. */
  readonly mount?: (app: Express, limiter: Sessmgr) => void
}

/** A signed-in browser, as REST calls need it. */
export interface SignedIn {
  readonly cookie: string
  readonly nonce: string
  /** The raw id of the session, which only its browser may know. */
  readonly sessionId: string
  readonly token: string
  /** Cookie and nonce. */
  readonly headers: { readonly cookie: string; readonly 'x-host-nonce': string }
}

/** An application with the REST routes below /api. */
export interface RestHost {
  readonly origin: string
  readonly limiter: Sessmgr
  readonly registry: SessmgrStore
  readonly sessionStore: TestStore
  readonly users: readonly RestUser[]
  readonly actions: FiredAction[]
  readonly logs: unknown[][]
  /** Calls a path below /api. */
  call(method: string, path: string, call?: RestCall): Promise<RestAnswer>
  /** Calls any path of the application. */
  send(method: string, path: string, call?: RestCall): Promise<RestAnswer>
  signIn(login: string, agent?: string): Promise<SignedIn>
  /** Creates what the calls of the route table need: alice is signed in and has an application password, and a license is active. */
  arrange(): Promise<void>
  /** Creates an application password and returns a header with it. */
  scriptOf(login: string): Promise<{ authorization: string }>
  user(login: string): RestUser
  isSignedIn(who: SignedIn): Promise<boolean>
  /** Returns everything that a call could have written, and every action that has fired. */
  snapshot(): Promise<unknown>
  close(): Promise<void>
}

/** Starts the application on a free port of 127.0.0.1. */
export async function startRestHost(options: RestHostOptions = {}): Promise<RestHost> {
  const logs: unknown[][] = []
  const note = (...line: unknown[]) => void logs.push(line)
  const sessionStore = new TestStore()
  const registry = options.sessmgr?.store ?? memoryStore()
  const users = createRestUsers()
  const limiter = sessmgr({
    settings: { maximum: 5 },
    directory: true,
    ...licensingOptions(),
    logger: { warn: note, error: note },
    ...options.sessmgr,
    store: registry,
    sessionStore,
    host: options.withoutHost ? undefined : ({ ...restHostOf(users, options.attempts), ...options.host } as Host),
  })
  registerAddons(limiter.hooks)
  const actions = recordActions(limiter.hooks)
  const { origin, close } = await serve(createApp(options, limiter, sessionStore, users))
  const client = new RestClient(origin)
  const user = (login: string) => users.find((one) => one.login === login) as RestUser

  async function signIn(login: string, agent = 'Test/1.0'): Promise<SignedIn> {
    const { status, headers, text } = await client.send('POST', `/login/${login}`, { headers: { 'user-agent': agent } })
    const cookie = headers['set-cookie']?.[0]?.split(';')[0]
    if (status !== 200 || cookie === undefined) throw new Error(`${login} could not sign in: ${status} ${text}`)
    const nonce = (await client.send('GET', '/nonce', { headers: { cookie } })).text
    const sessionId = decodeURIComponent(cookie).slice('connect.sid=s:'.length).split('.')[0] as string
    return { cookie, nonce, sessionId, token: tokenOf(sessionId), headers: { cookie, 'x-host-nonce': nonce } }
  }

  return {
    origin,
    limiter,
    registry,
    sessionStore,
    users,
    actions,
    logs,
    call: (method, path, call) => client.send(method, `/api${path}`, call),
    send: (method, path, call) => client.send(method, path, call),
    signIn,
    async arrange() {
      await signIn('alice')
      const password = { id: PASSWORD_ID, name: 'arranged', hash: 'ab'.repeat(32), createdAt: 1_700_000_000_000 }
      await registry.passwords.add(user('alice').id, password)
      await limiter.settings.update({ logic: 'allow' })
      if (!(await limiter.addons.isLicensed(1001))) await limiter.addons.activate(1001, LICENSE_KEY)
    },
    async scriptOf(login) {
      return basic(login, (await limiter.passwords.create(user(login).id, 'script')).password)
    },
    user,
    isSignedIn: async ({ cookie }) => (await client.send('GET', '/me', { headers: { cookie } })).text !== 'nobody',
    async snapshot() {
      const names = ['sessmgr_settings', 'sessmgr.licenses', ...limiter.options.exposed().map(({ name }) => name)]
      const ids = users.map(({ id }) => id)
      return {
        options: await Promise.all(names.map((name) => registry.options.get(name))),
        sessions: await Promise.all(ids.map(async (id) => (await registry.sessions.read(id)).sessions.map(identity))),
        passwords: await Promise.all(ids.map((id) => registry.passwords.list(id))),
        generation: await registry.epoch.current(),
        actions: [...actions],
      }
    },
    async close() {
      await close()
      await limiter.close()
    },
  }
}

/** Returns a session without its last use, which every call may change. */
function identity({ record: { token, generation } }: { record: { token: string; generation: number } }) {
  return { token, generation }
}

function createApp(options: RestHostOptions, limiter: Sessmgr, store: TestStore, users: readonly RestUser[]): Express {
  const express = options.express === 4 ? express4 : express5
  const app = express()
  app.set('env', 'test')
  const cookie = { maxAge: FORTNIGHT }
  app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false, cookie }), limiter)
  const parsers = [express.json(), express.urlencoded({ extended: true }), express.text()]
  if (options.parsers === 'before') app.use(...parsers)
  // Only Node's requests still have a body that a parser has read.
  const routes = limiter.router()
  app.use('/api', options.parsers === 'before' ? routes : asServed(limiter, '/api', routes))
  if (options.account !== false) app.use('/account/sessions', asServed(limiter, '/account/sessions', limiter.account()))
  options.mount?.(app, limiter)
  app.get('/api/hello', (_req, res) => void res.send('a route of the application'))
  app.post('/login/:name', (req, res, next) => {
    const user = users.find(({ login }) => login === req.params.name)
    limiter.login(req, user).then(() => res.send('in'), next)
  })
  app.get('/nonce', (req, res, next) => {
    limiter.nonce(req).then((nonce) => res.send(nonce ?? ''), next)
  })
  app.get('/me', (req, res) => void res.send(String(req.sessmgr?.session?.userId ?? 'nobody')))
  return app
}
