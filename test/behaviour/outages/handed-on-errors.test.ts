import express, { type Request } from 'express'
import session from 'express-session'
import { describe, expect, it, onTestFinished } from 'vitest'
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

/** Asks a route that awaits a call of the service and hands on what it rejects with; errors are left to Express. */
async function ask(call: Call, fault: 'store' | 'session store' | undefined): Promise<Answer> {
  const store = breakableStore()
  const sessionStore = new TestStore()
  const limiter = sessmgr({ store, sessionStore, host, logger: { warn() {}, error() {} } })
  const banner = limiter.options.register('banner', { schema: z.object({ size: z.number() }), default: { size: 1 } })
  onTestFinished(() => limiter.close())
  const app = express()
  app.use(session({ store: sessionStore, secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.get('/', (req, res, next) => {
    const run = async () => {
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
  return new Browser(await listen(app)).get('/')
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

describe.each(Object.entries(CALLS))('a route of the application that awaits %s', (name, call) => {
  // Once somebody has signed in, the process knows the secret of the nonces.
  const expected = ['nonce', 'comments.placeholder'].includes(name) ? [200, null] : [503, '2']

  it(`answers ${expected[0]} while the store is down, with a time to come back where it has failed`, async () => {
    const { status, headers } = await ask(call, 'store')
    expect([status, headers.get('retry-after')]).toEqual(expected)
  })
})

it.each(Object.entries(CALLS).filter(([name]) => ['sessions.list', 'nonce', 'a login'].includes(name)))(
  'a route of the application that awaits %s answers as it likes while all is well',
  async (_name, call) => {
    const { status, text } = await ask(call, undefined)
    expect([status, text]).toEqual([200, 'done'])
  },
)

it('rule 74: a route that lists sessions gets the error of the session store, and answers 503 with a time to come back', async () => {
  const caught: unknown[] = []
  const list: Call = async ({ limiter }) => {
    await limiter.sessions.list(2).catch((error) => {
      caught.push(error)
      throw error
    })
  }
  const { status, headers } = await ask(list, 'session store')
  expect([status, headers.get('retry-after')]).toEqual([503, '2'])
  expect(caught).toEqual([DOWN])
  expect(caught[0]).toBe(DOWN)
})

const BAD_VALUES: Record<string, Call> = {
  'settings.update': ({ limiter }) => limiter.settings.update({ maximum: 0 }),
  'settings.option.check': ({ limiter }) => limiter.settings.option.check('text'),
  'an option that was registered': ({ banner }) => banner.update({ size: 'big' }),
  'comments.settings.option.update': ({ comments }) => comments.settings.option.update('text'),
}

it.each(Object.entries(BAD_VALUES))('a route that hands a bad value to %s answers 400', async (_name, call) => {
  const { status, headers } = await ask(call, undefined)
  expect([status, headers.get('retry-after')]).toEqual([400, null])
})

it('gives the same object whenever it is asked for the same', () => {
  const limiter = sessmgr()
  onTestFinished(() => limiter.close())
  const option = limiter.options.get('sessmgr_settings')
  expect(option).toBeDefined()
  expect(limiter.options.get('sessmgr_settings')).toBe(option)
})

it('a route that asks for what is the fault of the application answers 500', async () => {
  const { status } = await ask(({ limiter }) => limiter.passwords.create(2, 'seeded', 'short'), undefined)
  expect(status).toBe(500)
})
