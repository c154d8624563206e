import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  type EndedKind,
  memoryStore,
  type Sessmgr,
  type SessmgrOptions,
  type SessmgrStore,
} from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { type Answer, type Browser, loggedIn } from '../../support/browser.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { useRedis } from '../../support/use-redis.ts'
import { NOTICE_HOSTS, type NoticeHost, type StartNoticeHost } from './notice-hosts.ts'

const redis = useRedis()

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'
const PAGE = { headers: { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', Accept: 'text/html,*/*' } }
const UNSEEN = {
  'a script': { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty', Accept: '*/*' },
  'an image': { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image', Accept: 'image/*' },
  'an embedded part': { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'embed', Accept: 'text/html' },
  'a page loaded ahead': { ...PAGE.headers, 'Sec-Purpose': 'prefetch;prerender' },
  'an image over plain HTTP': { Accept: 'image/avif,image/*,*/*' },
}

/** The ways in which a session of alice ends, by kind. */
const ENDS: Partial<Record<EndedKind, (limiter: Sessmgr, host: NoticeHost) => Promise<unknown>>> = {
  displaced: (_, host) => host.browser().login('alice', { 'User-Agent': CHROME }),
  user: ({ sessions }) => sessions.endAll(2, { by: 'user', device: 'Chrome on Windows' }),
  admin: ({ sessions }) => sessions.endAll(2, { by: 'admin', actor: 1 }),
  app: ({ sessions }) => sessions.endAll(2, { note: 'Please update <your> details.' }),
  logout_all: ({ sessions }) => sessions.logoutAllUsers(undefined, { note: 'Maintenance' }),
}
const KINDS = Object.keys(ENDS) as EndedKind[]
const NAMES_DEVICE: readonly EndedKind[] = ['displaced', 'user']

interface Shown {
  title: string
  text: string
  at: string
  html: string
  cause: { kind: string; device: string | null; note?: string }
}

const shownIn = (answer: Answer) => answer.json<Shown | null>()
const noticeIn = (browser: Browser) => [...browser.cookies.keys()].find((name) => name.includes('notice'))

/** The notice cookies that an answer sets or clears. */
const noticesOf = ({ setCookies }: Answer) => setCookies.filter((cookie) => cookie.includes('notice'))

/** Records the calls of a store from now on. */
function recordCalls(store: SessmgrStore): string[] {
  const asked: string[] = []
  for (const part of ['transients', 'options', 'sessions', 'epoch'] as const) {
    const calls = store[part] as unknown as Record<string, (...all: unknown[]) => unknown>
    for (const method of Object.keys(calls).concat(Object.getOwnPropertyNames(Object.getPrototypeOf(calls)))) {
      const call = calls[method]
      if (method === 'constructor' || typeof call !== 'function') continue
      calls[method] = (...all) => {
        asked.push(`${part}.${method}`)
        return call.apply(calls, all)
      }
    }
  }
  return asked
}

/** Two processes of one application, in a mode that leaves one session. */
async function startTwo(start: StartNoticeHost, store: () => Promise<SessmgrOptions['store']>, logic = 'allow') {
  const sessions = new JsonSessions()
  const memory = memoryStore()
  const one = async () =>
    start({ store: (await store()) ?? memory, settings: { maximum: 1, logic }, securityUrl: '/account' }, sessions)
  return [await one(), await one()] as const
}

const inRedis = async () => {
  const client = await connectRedis(redis.server.url)
  onTestFinished(() => client.destroy())
  return redisStore({ client })
}
const STORES = { memory: async () => undefined, Redis: inRedis }

/** A browser that was signed in. */
async function displaced(
  host: NoticeHost,
  by: (host: NoticeHost) => Promise<unknown> = (it) => it.browser().login('alice'),
) {
  const browser = await loggedIn(host, 'alice')
  await by(host)
  return browser
}

// A framework sees nothing of the store and of the reason: Express shows Redis, and every reason.
const hosts = NOTICE_HOSTS.flatMap(([name, start]) =>
  (name === 'Express' ? KINDS : KINDS.slice(0, 1)).flatMap((kind) =>
    Object.entries(name === 'Express' && kind === 'displaced' ? STORES : { memory: STORES.memory }).map(
      ([store, open]) => [name, store, kind, start, open] as const,
    ),
  ),
)

test.each(hosts)(
  'with %s over %s, in two processes, the next pages say that a session has ended, until the login: %s',
  async (...[, , kind, start, open]) => {
    const [here, there] = await startTwo(start, open, kind === 'displaced' ? 'logout_oldest' : 'allow')
    const before = Date.now()
    const browser = await displaced(here, (host) => ENDS[kind]?.(host.limiter, host) as Promise<unknown>)
    const elsewhere = () => browser.copy(there.origin)
    for (const headers of Object.values(UNSEEN)) {
      expect(shownIn(await elsewhere().get('/page', { headers }))).toBeNull()
      expect(shownIn(await browser.get('/page', { headers }))).toBeNull()
    }
    expect((await elsewhere().get('/away', PAGE)).status).toBe(302)
    expect((await browser.get('/away', PAGE)).status).toBe(302)

    const second = elsewhere()
    const shown = shownIn(await second.get('/page', PAGE))
    const device = NAMES_DEVICE.includes(kind) ? 'Chrome on Windows' : null
    expect(shown?.cause).toMatchObject({ kind, device })
    // A site-wide logout is dated in whole seconds.
    expect(Date.parse(shown?.at ?? '')).toBeGreaterThanOrEqual(before - 1000)
    expect(shown?.html).toContain(`<time datetime="${shown?.at}"`)
    if (device) expect(shown?.text).toContain(device)
    expect(shownIn(await second.get('/page', PAGE))).toMatchObject({ cause: shown?.cause, at: shown?.at })
    await second.login('alice')
    expect(shownIn(await second.get('/page', PAGE))).toBeNull()
    expect([...second.cookies.keys()].filter((name) => !/sess|sid/.test(name))).toEqual([])
  },
)

describe.each(NOTICE_HOSTS)('with %s', (name, start) => {
  const one = async (options: SessmgrOptions = {}) => {
    const sessions = new JsonSessions()
    return start({ settings: { maximum: 1, logic: 'allow' }, ...options }, sessions)
  }

  test('decision 71: a notice waits for the page that shows it, from the first answer on, whatever that is', async () => {
    const host = await one()
    const browser = await displaced(host)
    const firsts = [
      ['/quiet', PAGE],
      ['/away', PAGE],
      ...Object.values(UNSEEN).map((headers) => ['/page', { headers }] as const),
    ] as const
    for (const [path, carried] of firsts) {
      expect(noticesOf(await browser.copy().get(path, carried))).toEqual([
        expect.stringMatching(/^sessmgr_notice=[\da-f]{64}; Max-Age=259200; Path=\/; HttpOnly; SameSite=Lax$/),
      ])
    }
    await browser.get('/quiet', PAGE)
    for (const [path, carried] of firsts) expect(noticesOf(await browser.get(path, carried))).toEqual([])
    expect(shownIn(await browser.get('/page', PAGE))?.cause).toMatchObject({ kind: 'displaced' })
  })

  test('after a page has shown the notice, that of another tab repeats it until the next login', async () => {
    const host = await one()
    const browser = await displaced(host)
    for (let tab = 1; tab <= 3; tab++) {
      expect(shownIn(await browser.get('/page?tab', PAGE))?.cause).toMatchObject({ kind: 'displaced' })
    }
    expect(noticeIn(browser)).toBe('sessmgr_notice')
    await browser.login('alice')
    if (name !== 'explicit calls') expect(noticeIn(browser)).toBeUndefined()
    expect(shownIn(await browser.get('/page', PAGE))).toBeNull()
    expect(noticeIn(browser)).toBeUndefined()
  })

  test('a redirect that writes into a new session keeps the notice', async () => {
    if (name === 'explicit calls') return
    const browser = await displaced(await one())
    await browser.get('/away?write', PAGE)
    expect(noticeIn(browser)).toBe('sessmgr_notice')
    expect(shownIn(await browser.get('/page', PAGE))?.cause).toMatchObject({ kind: 'displaced' })
  })

  test('scripts read why from the body of a 401', async () => {
    const host = await one()
    const browser = await loggedIn(host, 'alice')
    expect((await browser.get('/data')).json()).toBeNull()
    await host.browser().login('alice', { 'User-Agent': CHROME })
    const headers = UNSEEN['a script']
    const answer = await browser.get('/data', { headers })
    const data = { status: 401, reason: 'missing', kind: 'displaced', device: 'Chrome on Windows', note: null }
    expect([answer.status, answer.json()]).toMatchObject([401, { code: 'session_ended', data }])
    expect(answer.text).toContain('this account signed in on Chrome on Windows.')
    expect(answer.text).not.toContain('127.0.0.1')
    expect((await host.browser().get('/data')).json()).toBeNull()
  })

  test('a live request, and a visitor, ask for nothing and get no cookie', async () => {
    const store = memoryStore()
    const host = await one({ store })
    const browser = await loggedIn(host, 'alice')
    await browser.get('/page', PAGE)
    const asked = recordCalls(store)
    const answer = await browser.get('/page', PAGE)
    expect(asked.toSorted()).toEqual(['epoch.current', 'sessions.useOf'])
    expect(noticesOf(answer)).toEqual([])
    asked.length = 0
    await host.browser().get('/page', PAGE)
    expect(asked).toEqual([])
  })

  // What a notice says, and for how long, is the same everywhere; with explicit calls the application clears the cookie.
  if (name !== 'Express' && name !== 'explicit calls') return
  const ends: [EndedKind, (host: NoticeHost) => Promise<unknown>][] = [
    ['displaced', (host) => host.browser().login('alice')],
    ['logout_all', ({ limiter }) => limiter.sessions.logoutAllUsers()],
  ]
  test.each(ends)(
    'decision 71: ten minutes after the first page, nothing is shown or looked up any more: %s',
    async (kind, end) => {
      const store = memoryStore()
      const browser = await displaced(await one({ store }), end)
      /** Gets a page with the dead cookie, which the framework or the application may have cleared. */
      const get = async (path: string) => {
        const tab = browser.copy()
        const answer = await tab.get(path, PAGE)
        const notice = tab.cookies.get('sessmgr_notice')
        if (notice) browser.cookies.set('sessmgr_notice', notice)
        return answer
      }
      const [first] = noticesOf(await get('/page'))
      expect(first).toMatch(/^sessmgr_notice=[\da-f]{64}\.\d{10}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
      const shownAt = Number(/\.(\d+)/.exec(first ?? '')?.[1]) * 1000
      onTestFinished(() => void vi.useRealTimers())
      vi.useFakeTimers({ now: shownAt + 599_999, toFake: ['Date'] })
      const last = await get('/page')
      expect([shownIn(last)?.cause, noticesOf(last)]).toMatchObject([{ kind }, []])

      vi.setSystemTime(shownAt + 600_000)
      const asked = recordCalls(store)
      for (const path of ['/page', '/quiet', '/page']) {
        const answer = await get(path)
        expect([answer.text, noticesOf(answer)]).toEqual([path === '/page' ? 'null' : '"quiet"', []])
      }
      const data = await get('/data')
      expect([data.status, data.json()]).toMatchObject([401, { data: { reason: 'missing', kind: null } }])
      // A load whose user is unknown asks for nothing but the epoch.
      expect(asked.filter((call) => call !== 'epoch.current')).toEqual([])
    },
  )

  if (name !== 'Express') return
  test('decision 71: malformed and foreign notices are ignored: they say nothing, and hide nothing', async () => {
    const host = await one()
    const browser = await displaced(host)
    const dead = browser.copy()
    await browser.get('/quiet', PAGE)
    const { value = '', path = '/' } = browser.cookies.get('sessmgr_notice') ?? {}
    const elsewhere = await displaced(await one())
    await elsewhere.get('/quiet', PAGE)
    const malformed = [value.slice(0, -1), `x${value}`, `${value}.`, `${value}.-1`, `${value}.1e3`, 'e30.x', '']
    for (const one of [...malformed, elsewhere.cookies.get('sessmgr_notice')?.value ?? '']) {
      const visitor = host.browser()
      visitor.cookies.set('sessmgr_notice', { value: one, path })
      const answer = await visitor.get('/page', PAGE)
      expect([shownIn(answer), noticesOf(answer)], one).toEqual([null, []])
      const copy = dead.copy()
      copy.cookies.set('sessmgr_notice', { value: one, path })
      expect(shownIn(await copy.get('/page', PAGE))?.cause, one).toMatchObject({ kind: 'displaced' })
      expect(copy.cookies.get('sessmgr_notice')?.value, one).toMatch(new RegExp(`^${value}\\.\\d+$`))
    }
    expect(shownIn(await browser.get('/page', PAGE))?.cause).toMatchObject({ kind: 'displaced' })
  })

  test('a user agent is nothing that the signed-out user sees', async () => {
    const host = await one()
    const evil = '<img onerror=alert(1)> 192.0.2.1'
    const browser = await displaced(host, () => host.browser().login('alice', { 'User-Agent': evil }))
    const shown = shownIn(await browser.get('/page', PAGE))
    expect(shown?.cause.device).toBeNull()
    expect(shown?.text).toBe('Just now, this account signed in somewhere else.')
    expect(JSON.stringify(shown)).not.toMatch(/<img|192\.0|127\.0/)
  })

  test('nothing is kept with endedMemory: 0', async () => {
    const browser = await displaced(await one({ endedMemory: 0 }))
    await browser.get('/quiet', PAGE)
    expect(noticeIn(browser)).toBeUndefined()
  })
})
