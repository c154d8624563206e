import express, { type Request } from 'express'
import session from 'express-session'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod/mini'
import {
  type LazyComments,
  memoryStore,
  type Sessmgr,
  SessmgrError,
  type SiteOption,
  sessmgr,
  tokenOf,
} from '../../../src/index.ts'
import { type Answer, Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { restHostOf } from '../../support/rest-users.ts'
import { TestStore } from '../../support/test-store.ts'

/** What a route of the application has at hand. */
interface Tools {
  readonly limiter: Sessmgr
  readonly comments: LazyComments
  readonly req: Request
  /** An option that the application has registered. */
  readonly banner: SiteOption<{ size: number }>
}

type Call = (tools: Tools) => unknown

const DOWN = Object.assign(new Error('The session store is down.'), { code: 'ECONNREFUSED' })

const POST = { id: 1 }
const host = {
  ...restHostOf([]),
  posts: { find: () => POST, id: () => 1, url: () => '/posts/1', isPublic: () => true, countComments: () => 9 },
  theme: { renderComments: () => 'comments' },
}

/** A memory store that can be taken down as a whole. */
function breakableStore() {
  const store = memoryStore()
  const state = { down: false }
  const part = <Part extends object>(real: Part): Part =>
    new Proxy(real, {
      get(target, name) {
        const method = Reflect.get(target, name) as ((...parameters: unknown[]) => unknown) | undefined
        if (!method) return undefined
        return async (...parameters: unknown[]) => {
          if (state.down) throw new SessmgrError('store_unavailable', 'The store cannot be reached.')
          return method.apply(target, parameters)
        }
      },
    })
  const { sessions, epoch, options, passwords, transients } = store
  return Object.assign(state, {
    ...store,
    sessions: part(sessions),
    epoch: part(epoch),
    options: part(options),
    passwords: part(passwords),
    transients: part(transients),
    wipe: () => part({ wipe: store.wipe }).wipe(),
  })
}

type Fault = 'store' | 'session store' | undefined

/** An application with a route that awaits a call of the service, and hands on what it rejects with to Express. */
async function start(): Promise<(call: Call, fault?: Fault) => Promise<Answer>> {
  const store = breakableStore()
  const sessionStore = new TestStore()
  const limiter = sessmgr({ store, sessionStore, host, settings: { maximum: 100 }, logger: { warn() {}, error() {} } })
  const banner = limiter.options.register('banner', { schema: z.object({ size: z.number() }), default: { size: 1 } })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store: sessionStore, secret: 'test', resave: false, saveUninitialized: false }), limiter)
  let given: readonly [Call, Fault] | undefined
  app.get('/', (req, res, next) => {
    const run = async () => {
      const [call, fault] = given as readonly [Call, Fault]
      await limiter.login(req, { id: 2 })
      store.down = fault === 'store'
      sessionStore.getError = fault === 'session store' ? DOWN : undefined
      await call({ limiter, comments: limiter.comments as LazyComments, req, banner })
      res.send('done')
    }
    run()
      .finally(() => {
        store.down = false
        sessionStore.getError = undefined
      })
      .catch(next)
  })
  const origin = await listen(app)
  return (call, fault) => {
    given = [call, fault]
    return new Browser(origin).get('/')
  }
}

const PASSWORD = 'abcdefghijklmnopqrstuvwx'
const CALLS: Record<string, Call> = {
  'sessions.list': ({ limiter }) => limiter.sessions.list(2),
  'sessions.count': ({ limiter }) => limiter.sessions.count(2),
  'sessions.end': ({ limiter }) => limiter.sessions.end(2, tokenOf('a')),
  'sessions.endAll': ({ limiter }) => limiter.sessions.endAll(2),
  'sessions.logoutAllUsers': ({ limiter }) => limiter.sessions.logoutAllUsers(),
  'settings.get': ({ limiter }) => limiter.settings.get(),
  'settings.update': ({ limiter }) => limiter.settings.update({ maximum: 2 }),
  'settings.option.get': ({ limiter }) => limiter.settings.option.get(),
  'an option that was registered': ({ banner }) => banner.get(),
  'options.get': ({ limiter }) => limiter.options.get('banner')?.get(),
  'options.exposed': ({ limiter }) => Promise.all(limiter.options.exposed().map((option) => option.get())),
  'passwords.create': ({ limiter }) => limiter.passwords.create(2, 'script'),
  'passwords.list': ({ limiter }) => limiter.passwords.list(2),
  'passwords.revoke': ({ limiter }) => limiter.passwords.revoke(2, 'id'),
  'passwords.verify': ({ limiter }) => limiter.passwords.verify(2, PASSWORD),
  'addons.isLicensed': ({ limiter }) => limiter.addons.isLicensed(1),
  nonce: ({ limiter, req }) => limiter.nonce(req),
  uninstall: ({ limiter }) => limiter.uninstall(),
  'comments.settings.all': ({ comments }) => comments.settings.all(),
  'comments.settings.option.get': ({ comments }) => comments.settings.option.get(),
  'comments.cache.flush_all': ({ comments }) => comments.cache.flush_all(),
  'comments.placeholder': ({ comments, req }) => comments.placeholder(POST, req),
  'a login': ({ limiter, req }) => limiter.login(req, { id: 3 }),
}

const statusIn = ({ status, headers }: Answer) => [status, headers.get('retry-after')]

it('a route that awaits a call answers 503 while the store is down, with a time to come back, and 200 otherwise', async () => {
  const ask = await start()
  for (const [name, call] of Object.entries(CALLS)) {
    // Once somebody has signed in, the process knows the secret of the nonces.
    const isKnown = ['nonce', 'comments.placeholder'].includes(name)
    expect(statusIn(await ask(call, 'store')), name).toEqual(isKnown ? [200, null] : [503, '2'])
  }
  for (const name of ['sessions.list', 'nonce', 'a login']) {
    const { status, text } = await ask(CALLS[name] as Call)
    expect([status, text], name).toEqual([200, 'done'])
  }
})

it('rule 74: a route that lists sessions gets the error of the session store, and answers 503 with a time to come back', async () => {
  const caught: unknown[] = []
  const list: Call = async ({ limiter }) => {
    await limiter.sessions.list(2).catch((error) => {
      caught.push(error)
      throw error
    })
  }
  const ask = await start()
  expect(statusIn(await ask(list, 'session store'))).toEqual([503, '2'])
  expect(caught).toEqual([DOWN])
  expect(caught[0]).toBe(DOWN)
})

it('a route that hands on a bad value answers 400, and one that asks for what is its own fault 500', async () => {
  const ask = await start()
  const bad: Record<string, Call> = {
    'settings.update': ({ limiter }) => limiter.settings.update({ maximum: 0 }),
    'settings.option.check': ({ limiter }) => limiter.settings.option.check('text'),
    'an option that was registered': ({ banner }) => banner.update({ size: 'big' as never }),
    'comments.settings.option.update': ({ comments }) => comments.settings.option.update('text' as never),
  }
  for (const [name, call] of Object.entries(bad)) expect(statusIn(await ask(call)), name).toEqual([400, null])
  expect((await ask(({ limiter }) => limiter.passwords.create(2, 'seeded', 'short'))).status).toBe(500)
})

it('gives the same object whenever it is asked for the same', () => {
  const limiter = sessmgr()
  onTestFinished(() => limiter.close())
  const option = limiter.options.get('sessmgr_settings')
  expect(option).toBeDefined()
  expect(limiter.options.get('sessmgr_settings')).toBe(option)
})
