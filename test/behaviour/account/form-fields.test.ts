import { randomBytes } from 'node:crypto'
import express, { type RequestHandler } from 'express'
import session from 'express-session'
import { expect, test } from 'vitest'
import { type FormFields, sessmgr } from '../../../src/index.ts'
import { type Answer, Browser } from '../../support/browser.ts'
import { createAuthentication } from '../../support/create-authentication.ts'
import { listen } from '../../support/listen.ts'
import { TestStore } from '../../support/test-store.ts'
import { findUserById } from '../../support/users.ts'
import { HOSTS, PAGE, signIn } from './account-hosts.ts'

const CHOOSE = '/login/choose'

/** Checks the token of the session in each form, as csurf does. */
const csrf: RequestHandler = (request, response, next) => {
  const kept = request.session as { csrf?: string }
  kept.csrf ??= `${randomBytes(9).toString('base64url')}"<&`
  const token = kept.csrf
  Object.assign(request, { csrfToken: () => token })
  if (request.method === 'GET' || request.body?._csrf === token) return next()
  response.status(403).send('invalid csrf token')
}

/** Starts an application in the usual order: session, CSRF, Passport, and then sessmgr's pages. */
async function startApp(fields: FormFields | undefined) {
  const users = { findById: findUserById, findByEmail() {}, findByLogin() {}, summary: (user: Express.User) => user }
  const limiter = sessmgr({
    host: { users, can: () => false } as never,
    settings: { maximum: 2, logic: 'ask' },
    logger: { warn() {}, error() {} },
  })
  const authentication = createAuthentication()
  const app = express()
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false, store: new TestStore() }))
  app.use(express.urlencoded({ extended: false }), csrf)
  app.use(limiter, authentication.session() as RequestHandler)
  app.use(PAGE, limiter.account({ fields, stepUp: { verify: (_request, password) => password === 'secret' } }))
  app.use(CHOOSE, limiter.choice({ fields }))
  app.get(
    '/token',
    (request, response) => void response.send((request as never as { csrfToken(): string }).csrfToken()),
  )
  app.post(
    '/login',
    authentication.authenticate('local', { failureRedirect: '/' }) as RequestHandler,
    (_, response) => {
      response.redirect('/')
    },
  )
  const origin = await listen(app)
  const logIn = async () => {
    const browser = new Browser(origin)
    const _csrf = (await browser.get('/token')).text
    const { location } = await browser.post(
      '/login',
      { username: 'bob', password: 'secret', _csrf },
      { accept: 'text/html' },
    )
    return { browser, location }
  }
  return { limiter, logIn }
}

/** What the first form of a page sends when its button is pressed. */
function pressed({ text }: Answer, pattern = /<form[\s\S]*?<\/form>/): [string, string][] {
  const form = pattern.exec(text)?.[0] ?? ''
  const fields = [...form.matchAll(/ name="([^"]+)" value="([^"]*)"/g)]
  const plain = (part = '') =>
    part.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
  return fields
    .filter(([, name]) => name !== 'cancel' && name !== 'all')
    .map(([, name, value]) => [plain(name), plain(value)])
}

const ofCsrf: FormFields = (request) => ({ _csrf: request.csrfToken() })

test('rule 68: fields lets the forms of both pages through CSRF middleware before them', async () => {
  const { limiter, logIn } = await startApp(async (request) => ofCsrf(request))
  const [{ browser: here }, { browser: other }] = [await logIn(), await logIn()]
  const { browser: phone, location } = await logIn()
  expect(location).toBe(CHOOSE)
  const chosen = pressed(await phone.get(CHOOSE)).slice(0, 3)
  expect(chosen.map(([name]) => name)).toEqual(['proof', '_csrf', 'end'])
  expect((await phone.post(CHOOSE, chosen)).location).toBe('/')
  expect(await limiter.sessions.count(3)).toBe(2)

  const live = (await here.get(PAGE)).status === 200 ? here : other
  const asked = pressed(await live.get(PAGE))
  expect(asked.map(([name]) => name)).toEqual(['proof', '_csrf', 'end'])
  expect((await live.post(PAGE, asked)).location).toBe(PAGE)
  const password = pressed(await live.get(PAGE), /<form class="list panel[\s\S]*?<\/form>/)
  expect((await live.post(PAGE, [...password, ['password', 'secret']])).location).toBe(PAGE)
  const others = pressed(await live.get(`${PAGE}?confirm`))
  expect(others.map(([name]) => name)).toEqual(['proof', '_csrf', 'others'])
  expect((await live.post(PAGE, others)).location).toBe(PAGE)
  expect(await limiter.sessions.count(3)).toBe(1)
})

test('without fields, such middleware refuses the forms', async () => {
  const { logIn } = await startApp(undefined)
  await logIn()
  const { browser } = await logIn()
  const answer = await browser.post(PAGE, pressed(await browser.get(PAGE)))
  expect([answer.status, answer.text]).toEqual([403, 'invalid csrf token'])
})

test.each(['Koa', 'a Request'] as const)('fields are escaped, and know the session, on %s', async (kind) => {
  const given: unknown[] = []
  const fields: FormFields = (request) => {
    given.push(typeof request.session, new Headers(request.headers).get('host') !== null)
    return { '_cs"rf': '"><script>' }
  }
  const host = await HOSTS[kind]({ settings: { maximum: 5, logic: 'block' } }, { fields })
  const here = await signIn(host, 'windows')
  await signIn(host, 'iphone')
  const page = await here.get(PAGE)
  expect(page.text).toContain('<input type="hidden" name="_cs&quot;rf" value="&quot;&gt;&lt;script&gt;">')
  expect(given).toEqual([kind === 'Koa' ? 'object' : 'undefined', true])
})

test.each([
  [{ proof: 'mine' }, '"fields" of account() must not return "proof", which the page uses'],
  [{ _csrf: undefined }, '"fields" of account() must return a string for "_csrf"'],
])('fields that return %j fail the page with an error for the application', async (returned, message) => {
  const host = await HOSTS.Express({}, { fields: () => returned as never })
  const browser = await signIn(host, 'windows')
  expect((await browser.get(PAGE)).status).toBe(500)
  expect((host as unknown as { errors: unknown[] }).errors.map(String)).toEqual([expect.stringContaining(message)])
})
