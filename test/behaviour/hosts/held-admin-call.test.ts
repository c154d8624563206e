import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Host, Sessmgr } from '../../../src/index.ts'
import type { Browser } from '../../support/browser.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { openRequest } from '../../support/raw-request.ts'
import { basic } from '../../support/rest-client.ts'
import { findUser, findUserById } from '../../support/users.ts'
import { startHonoHost } from './hono-host.ts'

const ALICE = 2
const BODY = JSON.stringify({ maximum: 1_000_000 })

/** What the application says of its users, for a test to change. */
class Application {
  isAdmin = true
  isThere = true
  /** How often the application was asked what somebody may do: by then the head has come. */
  asked = 0

  readonly host: Host<Express.User> = {
    users: {
      findById: (id) => (this.isThere ? findUserById(Number(id)) : undefined),
      findByEmail: () => undefined,
      findByLogin: (login) => (this.isThere ? findUser(login) : undefined),
      summary: ({ id = 0, login }) => ({ id, login, display_name: login }),
    },
    can: () => {
      this.asked += 1
      return this.isAdmin
    },
  }
}

interface Started {
  readonly origin: string
  readonly limiter: Sessmgr
  browser(): Browser
}

const HOSTS: Record<string, (application: Application) => Promise<Started>> = {
  Express: ({ host }) => startExpressHost({ sessmgr: { host } }),
  Fastify: ({ host }) => startFastifyHost({ sessmgr: { host } }),
  Koa: ({ host }) => startKoaHost({ sessmgr: { host } }),
  'explicit calls': ({ host }) => startHonoHost({ host }),
}

/** Starts an application and sends the head of a call that alice may make. */
async function hold(name: string, way: 'session' | 'password') {
  const application = new Application()
  const { origin, limiter, browser: open } = await (HOSTS[name] as (typeof HOSTS)[string])(application)
  const browser = open()
  await browser.post('/login', { username: 'alice', password: 'secret' })
  const { id, password } = await limiter.passwords.create(ALICE, 'script')
  const cookie = [...browser.cookies].map(([key, { value }]) => `${key}=${value}`).join('; ')
  const proof =
    way === 'session'
      ? { Cookie: cookie, 'X-HOST-Nonce': (await browser.get('/nonce')).text }
      : basic('alice', password)
  const { host } = new URL(origin)
  const length = { 'Content-Type': 'application/json', 'Content-Length': BODY.length }
  const headers = Object.entries({ Host: host, Connection: 'close', ...length, ...proof })
  const lines = headers.map(([header, value]) => `${header}: ${value}`)
  const held = openRequest(origin, ['POST /api/sessmgr/v1/settings HTTP/1.1', ...lines])
  await expect.poll(() => application.asked).toBe(1)
  return { application, limiter, held, passwordId: id }
}

type Held = Awaited<ReturnType<typeof hold>>

const REMOVALS: [what: string, way: 'session' | 'password', status: number, remove: (held: Held) => unknown][] = [
  ['right', 'session', 403, ({ application }) => Object.assign(application, { isAdmin: false })],
  ['right', 'password', 403, ({ application }) => Object.assign(application, { isAdmin: false })],
  ['account', 'session', 401, ({ application }) => Object.assign(application, { isThere: false })],
  ['account', 'password', 401, ({ application }) => Object.assign(application, { isThere: false })],
  ['session', 'session', 401, ({ limiter }) => limiter.sessions.endAll(ALICE)],
  ['session, by a site-wide logout,', 'session', 401, ({ limiter }) => limiter.sessions.logoutAllUsers()],
  ['application password', 'password', 401, ({ limiter, passwordId }) => limiter.passwords.revoke(ALICE, passwordId)],
]

describe.each(Object.keys(HOSTS))('rule 45, on %s: a body that is held back', (name) => {
  // The router is the same everywhere: Express shows all that may be lost.
  test.each(name === 'Express' ? REMOVALS : REMOVALS.slice(4, 5))(
    'does nothing when its sender has lost the %s meanwhile (by %s: %i)',
    async (...parts) => {
      const [, way, status, remove] = parts
      const started = await hold(name, way)
      await remove(started)
      started.held.write(BODY)
      expect(await started.held.answer).toEqual([status, expect.stringContaining('rest_forbidden')])
      expect(await started.limiter.settings.get()).toMatchObject({ maximum: 1 })
    },
  )

  test('does what it says while its sender may still', async () => {
    for (const way of name === 'Express' ? (['session', 'password'] as const) : (['session'] as const)) {
      const { held, limiter } = await hold(name, way)
      held.write(BODY)
      expect((await held.answer)[0], way).toBe(200)
      expect(await limiter.settings.get(), way).toMatchObject({ maximum: 1_000_000 })
    }
  })

  test('is given up with 408 after ten seconds, and the connection is closed', async () => {
    onTestFinished(() => void vi.useRealTimers())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { held, limiter } = await hold(name, 'password')
    held.write(BODY.slice(0, 5))
    // The reading begins some turns after the right was asked; until then there is no timer.
    const answered = async () => {
      vi.advanceTimersByTime(10_000)
      expect(await Promise.race([held.answer, new Promise((resolve) => setImmediate(resolve))])).toBeDefined()
    }
    await vi.waitFor(answered, { timeout: 30_000 })
    const [status, text] = await held.answer
    expect([status, text]).toEqual([408, expect.stringContaining('"code":"rest_request_timeout"')])
    expect(text).toMatch(/^connection: close/im)
    expect(await limiter.settings.get()).toMatchObject({ maximum: 1 })
  })
})
