import { IncomingMessage, request as send } from 'node:http'
import fastify from 'fastify'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLazyComments } from '../../../src/comments.ts'
import { fastifyRoutes } from '../../../src/fastify.ts'
import type { Middleware, RenderContext, Sessmgr } from '../../../src/index.ts'
import { koaRoutes } from '../../../src/koa.ts'
import type { Browser } from '../../support/browser.ts'
import { listen } from '../../support/listen.ts'
import { wholeSettings } from '../../support/whole-settings.ts'
import { HOSTS, PAGE, signIn } from '../account/account-hosts.ts'
import { ALL_HOSTS, ask, choose, HOSTS as PASSPORT_HOSTS, startFull } from '../choice/choice-hosts.ts'

// biome-ignore lint/suspicious/noExplicitAny: the frameworks have no common type of request.
type AnyRequest = any

/** The framework whose request this is. */
function kindOf(request: AnyRequest): keyof typeof HOSTS | undefined {
  if (typeof request.headers.get === 'function') return 'a Request'
  if (request.app instanceof Koa) return 'Koa'
  if (request.server?.decorateRequest) return 'Fastify'
  if (typeof request.app === 'function') return 'Express'
  return request instanceof IncomingMessage ? 'explicit calls' : undefined
}

describe.each(Object.keys(HOSTS) as (keyof typeof HOSTS)[])("the application's functions, with %s", (kind) => {
  test('receive the request of their own framework from pages and REST routes', async () => {
    const seen: unknown[] = []
    const note = (part: string, request: AnyRequest) => seen.push(`${part} of ${kindOf(request)}`)
    const texts = (part: string) => (request: AnyRequest) => {
      note(part, request)
      return {}
    }
    const fields = (request: AnyRequest) => {
      note('fields', request)
      return { extra: 'x' }
    }
    const verify = (request: AnyRequest, password: string) => {
      note('verify', request)
      return password === 'secret'
    }
    const account = { fields, texts: texts('texts of the page'), stepUp: { verify } }
    const host = await HOSTS[kind]({ texts: texts('texts'), settings: { maximum: 5 } }, account)
    // Without a second device, the page has no form.
    await signIn(host, 'iphone')
    const browser = await signIn(host, 'windows')
    expect((await browser.get(PAGE)).text).toContain('name="extra" value="x"')
    const headers = { 'x-host-nonce': (await browser.get('/nonce')).text }
    const path = '/api/sessmgr/v1/me/reauthenticate'
    const wrong = await browser.request('POST', path, { headers, json: { password: 'wrong' } })
    expect([wrong.status, wrong.json().code]).toEqual([403, 'wrong_password'])
    expect((await browser.request('POST', path, { headers, json: { password: 'secret' } })).status).toBe(200)
    const parts = ['fields', 'texts', 'texts of the page', 'verify']
    expect([...new Set(seen)].toSorted()).toEqual(parts.map((part) => `${part} of ${kind}`))
  })
})

test.each(ALL_HOSTS)(
  'verify of the choice page receives the request of its own framework, with %s',
  async (kind, start) => {
    const seen: unknown[] = []
    const verify = (request: unknown, _user: unknown, { code }: { code?: string }) => {
      seen.push(kindOf(request))
      return code === '123456'
    }
    const { host } = await startFull(start, { choice: { verify } as never })
    const { browser, tokens } = await ask(host)
    const json = { end: tokens, code: '123456' }
    const answer = await browser.request('POST', '/login/choose', { json, headers: { accept: 'application/json' } })
    expect([answer.status, answer.json()]).toEqual([200, { signed_in: true, ended: 1 }])
    expect([seen, await browser.me()]).toEqual([[kind], 200])
  },
)

test.each(PASSPORT_HOSTS)('complete signs in by the request of its own framework, with %s', async (kind, start) => {
  for (const isFailing of [false, true]) {
    const seen: unknown[] = []
    let limiter: Sessmgr | undefined
    const complete = async (request: AnyRequest, response: { write(part: string): void }, user: { id: number }) => {
      seen.push(kindOf(request))
      await limiter?.login(request, user)
      if (!isFailing) return Object.assign(request.session, { userId: user.id })
      response.write('part')
      throw new Error('after the first byte')
    }
    const { host, inside } = await startFull(start, { choice: { complete } })
    limiter = host.limiter
    const { browser, tokens } = await ask(host)
    if (isFailing) await expect(choose(browser, tokens), 'the response is broken off').rejects.toThrow()
    else {
      expect((await choose(browser, tokens)).json()).toEqual({ signed_in: true, ended: 1 })
      expect([await browser.me(), await inside[0]?.me()]).toEqual([200, 401])
    }
    expect(seen).toEqual([kind])
  }
})

describe('the lazy comments without the limit', () => {
  function commentsThatNote() {
    const seen: string[] = []
    const note = (part: string, request: unknown) => void seen.push(`${part} of ${kindOf(request)}`)
    const isLocked = (_post: unknown, request: unknown) => {
      note('isLocked', request)
      return false
    }
    const renderComments = (_post: unknown, { request }: RenderContext) => {
      note('theme', request)
      return '<p>Hello</p>'
    }
    const user = (request: unknown) => note('user', request)
    const one = { find: (id: number) => id, id: () => 1, url: () => '/', isPublic: () => true, countComments: () => 1 }
    const posts = { ...one, hasPassword: () => true, isLocked }
    const logger = { warn() {}, error() {} }
    return { seen, comments: createLazyComments({ host: { posts, theme: { renderComments } }, user, logger }) }
  }

  const START = {
    async Fastify(serve) {
      const app = fastify()
      await app.register(fastifyRoutes, { prefix: '/api', serve })
      onTestFinished(() => app.close())
      return app.listen({ port: 0, host: '127.0.0.1' })
    },
    Koa: (serve) => listen(new Koa().use(koaRoutes('/api', serve) as unknown as Koa.Middleware).callback()),
  } satisfies Record<string, (serve: Middleware) => Promise<string>>

  test.each(['Fastify', 'Koa'] as const)('pass on the request of %s', async (kind) => {
    const { comments, seen } = commentsThatNote()
    const answer = await fetch(`${await START[kind](comments.router())}/api/lazycomments/v1/comments?post_id=1`)
    expect([answer.status, await answer.json()]).toEqual([200, { html: '<p>Hello</p>' }])
    expect([...new Set(seen)].toSorted()).toEqual(['isLocked', 'theme', 'user'].map((part) => `${part} of ${kind}`))
  })
})

const SETTINGS = '/api/sessmgr/v1/settings'

test.each(ALL_HOSTS)('an upload that breaks off changes nothing and fails nothing, with %s', async (_, start) => {
  const host = await start({ sessmgr: { settings: { maximum: 4, logic: 'block' } } })
  const alice = host.browser()
  await alice.login('alice')
  const headers: Record<string, string> = { 'x-host-nonce': (await alice.get('/nonce')).text }
  await breakOff(`${host.origin}${SETTINGS}`, alice, { ...headers, 'content-type': 'application/json' })
  const answer = await alice.get(SETTINGS, { headers })
  expect([answer.status, answer.json()]).toEqual([200, wholeSettings({ maximum: 4, logic: 'block' })])
  // Koa itself reports the connection that was closed.
  expect(host.errors.filter((error) => (error as { code?: string }).code !== 'HPE_INVALID_EOF_STATE')).toEqual([])
})

/** Sends the first half of a body, and then closes the connection. */
async function breakOff(url: string, { cookies }: Browser, headers: Record<string, string>): Promise<void> {
  const cookie = [...cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
  const upload = send(url, { method: 'POST', agent: false, headers: { ...headers, cookie, 'content-length': 100 } })
  const closed = new Promise((resolve) => upload.on('error', resolve).on('close', resolve))
  await new Promise((resolve) => upload.write('{"maximum":9,', resolve))
  // Long enough for the server to begin reading.
  await new Promise((resolve) => setTimeout(resolve, 100))
  upload.destroy()
  await closed
}
