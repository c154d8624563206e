import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import type { HostSessionData } from '../../../src/door/host-types.ts'
import { explainEnd, goOnWith } from '../../../src/door/load.ts'
import { type SessionPort, StoreHealth } from '../../../src/door/port.ts'
import { AdapterVisit } from '../../../src/door/request/adapter-visit.ts'
import { guardedBy } from '../../../src/door/session-guard.ts'
import { sessionCall, sessionReads } from '../../../src/door/stores/store-calls.ts'
import type { Sessmgr } from '../../../src/index.ts'
import { SessmgrError } from '../../../src/index.ts'
import { coreOf } from '../../../src/service/service-core.ts'
import { Browser } from '../../support/browser.ts'
import { createLimiter } from '../../support/host-under-test.ts'
import { listen } from '../../support/listen.ts'

/** The session store of a framework that nobody has heard of. */
class OwnStore {
  readonly sessions = new Map<string, HostSessionData>()

  async read(id: string): Promise<HostSessionData | undefined> {
    return structuredClone(this.sessions.get(id))
  }

  async write(id: string, data: HostSessionData): Promise<void> {
    this.sessions.set(id, structuredClone(data))
  }

  async remove(id: string): Promise<void> {
    this.sessions.delete(id)
  }
}

function portOf(store: OwnStore, deadlineMs: number): SessionPort {
  const health = new StoreHealth()
  const call = sessionCall(health)
  const read = sessionReads(deadlineMs, health)
  return {
    health,
    read: (id, asked) => read(asked, () => store.read(id)),
    get: (id) => call(() => store.read(id)),
    set: (id, data) => call(() => store.write(id, data)),
    destroy: (id) => call(() => store.remove(id)),
  }
}

const guardOwnStore = guardedBy(portOf, (_store: OwnStore, guard) => {
  // `read` cannot use another connection.
  guard.readable = {}
  return guard
})

/** One request, as the framework offers it. */
class OwnVisit extends AdapterVisit {
  readonly passportLogin = undefined
  session: HostSessionData = {}
  sessionID: string = randomUUID()

  get ip(): string | undefined {
    return this.raw.socket.remoteAddress
  }

  async renew(): Promise<void> {
    // While a login is decided, the visitor's session stays as it is.
    if (!this.login) await this.guard.destroy(this.sessionID, this)
    this.sessionID = randomUUID()
    this.session = {}
  }

  override async save(): Promise<void> {
    this.wrote = true
    await this.guard.save(this.sessionID, this.session, this)
  }

  async restore(sessionId: string, data: HostSessionData | null): Promise<void> {
    this.sessionID = sessionId
    this.session = data ?? {}
  }
}

/** Returns the middleware of the framework that limits logins. The cookie is called `sid` and is not signed. */
function ownFramework(limiter: Sessmgr, store: OwnStore) {
  const { guards, notices } = coreOf(limiter)
  const guard = guardOwnStore(guards, store)
  return async (request: IncomingMessage, response: ServerResponse, handle: (visit: OwnVisit) => Promise<unknown>) => {
    const visit = new OwnVisit(guard, request, response)
    const sent = /\bsid=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]
    const found = sent === undefined ? {} : await guard.load(sent)
    if (sent !== undefined && found.data) {
      visit.sessionID = sent
      visit.session = found.data
      visit.origin = found.session
      if (found.session) goOnWith(guard, visit, found.session, found.needsPair)
    } else if (sent !== undefined) await explainEnd(guard, sent, visit, notices)
    const before = JSON.stringify(visit.session)
    const answer = await handle(visit)
    if (visit.sessionID !== sent || JSON.stringify(visit.session) !== before) await visit.save()
    else await new Promise<void>((done) => visit.noteUse(done))
    response.setHeader('Set-Cookie', `sid=${visit.sessionID}; Path=/`)
    response.end(JSON.stringify(answer))
  }
}

async function start(settings: object) {
  const limiter = createLimiter({ settings, sessionUser: ({ user }) => user })
  const store = new OwnStore()
  const middleware = ownFramework(limiter, store)
  const origin = await listen((request, response) => {
    middleware(request, response, async (visit) => {
      if (request.url === '/login') {
        const refusal = await limiter.login(request, 7).then(
          () => undefined,
          (error) => error,
        )
        if (refusal && !(refusal instanceof SessmgrError)) throw refusal
        if (!refusal) visit.session.user = 7
        return { refusal: refusal?.code }
      }
      if (request.url === '/logout') await limiter.logout(request)
      if (request.url === '/cart') visit.session.cart = 'full'
      const { user, cart } = visit.session
      return { user, cart, ended: visit.sessmgr.ended?.cause?.kind }
    }).catch((error) => response.destroy(error))
  })
  const browser = () => new Browser(origin)
  const get = async (one: Browser, path: string) => (await one.get(path)).json()
  return { limiter, store, browser, get }
}

it('rules 5 and 8: a framework with nothing but the port keeps the limit and says why a session ended', async () => {
  const { limiter, browser, get } = await start({ maximum: 1, logic: 'logout_oldest' })
  const [laptop, phone] = [browser(), browser()]
  await get(laptop, '/login')
  expect(await get(laptop, '/me')).toEqual({ user: 7 })
  await get(phone, '/login')
  expect(await get(laptop, '/me')).toEqual({ ended: 'displaced' })
  expect(await get(phone, '/me')).toEqual({ user: 7 })
  await get(phone, '/logout')
  expect(await limiter.sessions.count(7)).toBe(0)
})

it('rule 7: a refused login leaves the visitor what was in the session', async () => {
  const { store, browser, get } = await start({ maximum: 1, logic: 'block' })
  const [laptop, phone] = [browser(), browser()]
  await get(laptop, '/login')
  await get(phone, '/cart')
  expect(await get(phone, '/login')).toEqual({ refusal: 'login_limit_reached' })
  expect(await get(phone, '/me')).toEqual({ cart: 'full' })
  expect(store.sessions.size).toBe(2)
})

it('rule 5: twenty parallel logins leave three sessions', async () => {
  const { limiter, browser, get } = await start({ maximum: 3, logic: 'logout_oldest' })
  await Promise.all(Array.from({ length: 20 }, () => get(browser(), '/login')))
  expect(await limiter.sessions.count(7)).toBe(3)
})
