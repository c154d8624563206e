import 'reflect-metadata'
import * as nest from '@nestjs/common'
import {
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpCode,
  type HttpServer,
  Module,
  Post,
  Req,
  UseGuards,
} from '@nestjs/common'
import * as nestCore from '@nestjs/core'
import { NestFactory } from '@nestjs/core'
import { AuthGuard, PassportStrategy } from '@nestjs/passport'
import { ExpressAdapter } from '@nestjs/platform-express'
import type { NestFastifyApplication } from '@nestjs/platform-fastify'
import type { Request, Response } from 'express'
import session, { MemoryStore } from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import * as fastifyDoor from '../../../src/fastify.ts'
import * as sessmgr from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { createLimiter } from '../../support/host-under-test.ts'
import { authenticate, findUserById } from '../../support/users.ts'
import type { LimitSettings } from '../../support/whole-settings.ts'
import { runBlock } from './run-block.ts'

/** A user as in the tutorial of NestJS, whose serializer stores all of it. */
const TUTOR = { userId: 77, username: 'tutor' }

/** NestJS runs on Express here, and its guard on the one Passport of the process; sessmgr needs nothing for it. */
class Local extends PassportStrategy(LocalStrategy) {
  validate(login: string, password: string) {
    if (login === TUTOR.username) return TUTOR
    return authenticate(login, password) ?? null
  }
}

/** The guard of NestJS's documentation: a session as soon as the password is right. */
class LoginGuard extends AuthGuard('local') {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context)
    await super.logIn(context.switchToHttp().getRequest())
    return true
  }
}

class Account {
  login() {
    return { signedIn: true }
  }

  async nameless(request: Request) {
    await LIMITERS.at(-1)?.login(request, { password: 'hunter2' })
  }

  me(request: Request) {
    return { user: request.user ?? null, sessmgr: request.sessmgr }
  }

  async logout(request: Request) {
    await new Promise<void>((resolve, reject) => request.logout((error) => (error ? reject(error) : resolve())))
  }
}

class Application {}

const LIMITERS: sessmgr.Sessmgr[] = []

/** What decorators do, for a compiler that does not read them. */
function decorate(): void {
  const on = (name: keyof Account, ...decorators: MethodDecorator[]) => {
    const descriptor = Object.getOwnPropertyDescriptor(Account.prototype, name) as PropertyDescriptor
    for (const decorator of decorators) decorator(Account.prototype, name, descriptor)
  }
  on('login', Post('login'), HttpCode(200), UseGuards(LoginGuard))
  on('nameless', Post('nameless'), HttpCode(200))
  on('me', Get('me'))
  on('logout', Post('logout'), HttpCode(204))
  Req()(Account.prototype, 'me', 0)
  Req()(Account.prototype, 'nameless', 0)
  Req()(Account.prototype, 'logout', 0)
  Controller()(Account)
  Module({ controllers: [Account], providers: [Local] })(Application)
}

beforeAll(() => {
  decorate()
  passport.serializeUser((user, done) => done(null, user.id ?? user))
  passport.deserializeUser((stored: number | Express.User, done) =>
    done(null, (typeof stored === 'object' ? stored : findUserById(stored)) ?? false),
  )
})

/** A store that can be down. */
class UnsteadyStore extends MemoryStore {
  isDown = false

  override get(...[id, done]: Parameters<MemoryStore['get']>): void {
    if (this.isDown) done(new Error(`down: ${id}`))
    else super.get(id, done)
  }
}

const RECIPE = 'docs/nestjs.md'
const PACKAGES = { '@nestjs/common': nest, '@nestjs/core': nestCore, sessmgr, 'sessmgr/fastify': fastifyDoor }

/** The exception filter of the documentation. */
const { SessmgrFilter } = runBlock(RECIPE, 'class SessmgrFilter', PACKAGES) as {
  SessmgrFilter: new (adapter: HttpServer) => ExceptionFilter
}

async function startNest(settings: LimitSettings, isFiltered = false, options?: sessmgr.SessmgrOptions) {
  const store = new UnsteadyStore()
  const limiter = createLimiter({ settings, sessionStore: store, ...options })
  LIMITERS.push(limiter)
  const users: unknown[] = []
  const app = await NestFactory.create(Application, new ExpressAdapter(), { logger: false })
  if (isFiltered) app.useGlobalFilters(new SessmgrFilter(app.getHttpAdapter()))
  app.use((request: Request, response: Response, next: () => void) => {
    response.on('finish', () => users.push(request.user))
    next()
  })
  app.use(session({ store, secret: 'test', resave: false, saveUninitialized: false }))
  app.use(limiter, passport.session())
  app.use('/api', limiter.router())
  await app.listen(0, '127.0.0.1')
  onTestFinished(async () => {
    await app.close()
    await limiter.close()
  })
  const origin = await app.getUrl()
  return { limiter, store, users, browser: () => new Browser(origin) }
}

describe('an application of NestJS on Express', () => {
  test('refuses a login at the limit with 403, and answers wrong passwords itself', async () => {
    const { browser } = await startNest({ maximum: 1, logic: 'block' })
    const first = browser()
    expect((await first.login('alice')).status).toBe(200)
    const second = browser()
    const refused = await second.login('alice')
    expect([refused.status, refused.json().message]).toEqual([
      403,
      "You've reached the limit of devices signed in to this account. Sign out on one of them and try again.",
    ])
    expect((await second.get('/me')).json()).toEqual({ user: null, sessmgr: {} })
    expect((await second.post('/login', { username: 'alice', password: 'wrong' })).status).toBe(401)
    expect((await first.post('/logout')).status).toBe(204)
    expect((await second.login('alice')).status).toBe(200)
  })

  test('ends the oldest session, and every session on a site-wide logout', async () => {
    const { browser, limiter } = await startNest({ maximum: 1, logic: 'logout_oldest' })
    const [old, young] = [browser(), browser()]
    await old.login('alice')
    await young.login('alice')
    expect((await old.get('/me')).json()).toMatchObject({ user: null, sessmgr: { ended: { reason: 'missing' } } })
    expect((await young.get('/me')).json()).toMatchObject({ user: { id: 2 }, sessmgr: { session: { userId: 2 } } })
    await limiter.sessions.logoutAllUsers()
    expect((await young.get('/me')).json()).toMatchObject({ user: null, sessmgr: { ended: { reason: 'logout_all' } } })
  })

  test('admits exactly the maximum of 50 parallel logins', async () => {
    const { browser, limiter } = await startNest({ maximum: 3, logic: 'block' })
    const answers = await Promise.all(Array.from({ length: 50 }, () => browser().login('alice')))
    expect(answers.filter(({ status }) => status === 200).length).toBe(3)
    expect(answers.filter(({ status }) => status === 403).length).toBe(47)
    expect(await limiter.sessions.count(2)).toBe(3)
  })

  test('serves the REST routes', async () => {
    const { browser } = await startNest({ maximum: 1, logic: 'block' })
    const answer = await browser().get('/api/sessmgr/v1/settings')
    expect([answer.status, answer.json().code]).toEqual([401, 'rest_forbidden'])
  })

  test('works at first try with the user of its tutorial, whole in the session', async () => {
    const logs: unknown[] = []
    const note = (line: unknown) => void logs.push(line)
    const { browser, limiter } = await startNest({ maximum: 1, logic: 'logout_oldest' }, false, {
      logger: { warn: note, error: note },
    })
    const [old, young] = [browser(), browser()]
    for (const each of [old, young]) expect((await each.login('tutor')).status).toBe(200)
    expect((await old.get('/me')).json()).toMatchObject({ user: null })
    expect((await young.get('/me')).json()).toEqual({
      user: { userId: 77, username: 'tutor' },
      sessmgr: { session: { userId: 77, token: expect.any(String) } },
    })
    expect([await limiter.sessions.count(77), logs]).toEqual([1, []])
  })

  test('shows clients no message for developers', async () => {
    const { browser } = await startNest({ maximum: 1, logic: 'block' })
    const answer = await browser().post('/nameless')
    expect([answer.status, answer.json()]).toEqual([
      500,
      { statusCode: 500, message: expect.stringMatching(/^Internal server error$/i) },
    ])
  })

  test('tells the code of a refused login by the filter of the documentation, and leaves nobody on the request', async () => {
    const { browser, users } = await startNest({ maximum: 1, logic: 'block' }, true)
    await browser().login('alice')
    const refused = await browser().login('alice')
    expect([refused.status, refused.json()]).toEqual([
      403,
      { statusCode: 403, code: 'login_limit_reached', message: expect.stringContaining('signed in') },
    ])
    expect(users).toEqual([expect.objectContaining({ id: 2 }), undefined])
  })

  test('tells by that filter when to try again while the session store is down', async () => {
    const { browser, store } = await startNest({ maximum: 1, logic: 'block' }, true)
    const reader = browser()
    await reader.login('alice')
    const id = reader.sessionId()
    store.isDown = true
    const answer = await reader.get('/me')
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
    expect(answer.text).not.toContain(id)
  })

  test('shows no message of the session store while it is down, also without that filter', async () => {
    const { browser, store } = await startNest({ maximum: 1, logic: 'block' })
    const reader = browser()
    await reader.login('alice')
    store.isDown = true
    const answer = await reader.get('/me')
    expect([answer.status, answer.json().message]).toEqual([500, expect.stringMatching(/^Internal server error$/i)])
  })
})

/** Starts the application of the recipe for Fastify, whose users are `alice` and everybody with the right password. */
async function startNestOnFastify(settings: LimitSettings) {
  const limiters: sessmgr.Sessmgr[] = []
  const logs: unknown[] = []
  const note = (line: unknown) => void logs.push(line)
  const create = (options: sessmgr.SessmgrOptions) => {
    const limiter = createLimiter({ ...options, settings, logger: { warn: note, error: note } })
    limiters.push(limiter)
    return limiter
  }
  const names = {
    checkPassword: async ({ username, password }: Record<string, string>) =>
      password === 'secret' ? { id: username } : undefined,
    secret: 'a secret of at least thirty-two characters',
  }
  const packages = { ...PACKAGES, sessmgr: { ...sessmgr, sessmgr: create } }
  const { LoginController, createApp } = runBlock(RECIPE, 'FastifyAdapter', packages, names) as {
    LoginController: new () => object
    createApp(module: new () => object): Promise<NestFastifyApplication>
  }
  class OwnController {
    me(request: Request) {
      return request.sessmgr
    }
  }
  Get('me')(OwnController.prototype, 'me', Object.getOwnPropertyDescriptor(OwnController.prototype, 'me') as never)
  Req()(OwnController.prototype, 'me', 0)
  Controller()(OwnController)
  class OwnModule {}
  Module({ controllers: [LoginController, OwnController] })(OwnModule)
  const app = await createApp(OwnModule)
  app.useGlobalFilters(new SessmgrFilter(app.getHttpAdapter()))
  await app.listen(0, '127.0.0.1')
  onTestFinished(() => app.close())
  const origin = await app.getUrl()
  return { limiter: limiters[0] as sessmgr.Sessmgr, logs, browser: () => new Browser(origin) }
}

describe('an application of NestJS on Fastify, as in the recipe', () => {
  const asJson = { username: 'alice', password: 'secret' }

  test('ends the oldest session, and answers wrong passwords itself', async () => {
    const { browser, limiter, logs } = await startNestOnFastify({ maximum: 1, logic: 'logout_oldest' })
    const [old, young] = [browser(), browser()]
    for (const one of [old, young]) expect((await one.post('/login', asJson)).status).toBe(201)
    expect((await old.get('/me')).json()).toMatchObject({ ended: { reason: 'missing' } })
    expect((await young.get('/me')).json()).toMatchObject({ session: { userId: 'alice' } })
    expect((await browser().post('/login', { ...asJson, password: 'wrong' })).status).toBe(401)
    expect([await limiter.sessions.count('alice'), logs]).toEqual([1, []])
  })

  test('tells the code of a refused login by the filter', async () => {
    const { browser } = await startNestOnFastify({ maximum: 1, logic: 'block' })
    await browser().post('/login', asJson)
    const refused = await browser().post('/login', asJson)
    expect([refused.status, refused.json()]).toMatchObject([403, { code: 'login_limit_reached' }])
  })
})
