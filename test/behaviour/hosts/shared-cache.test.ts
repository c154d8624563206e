import express from 'express'
import session from 'express-session'
import onHeaders from 'on-headers'
import { expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { createLimiter } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { listen } from '../../support/listen.ts'
import { startSharedCache } from '../../support/shared-cache.ts'
import { NOTICE_HOSTS, type StartNoticeHost } from './notice-hosts.ts'

const PAGE = { headers: { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', Accept: 'text/html,*/*' } }
const CACHED = ['public, max-age=300', 's-maxage=300'].map((control) => `/quiet?cache=${encodeURIComponent(control)}`)
const ENDS = [
  ['displaced', CACHED[0] as string],
  ['site-wide', CACHED[1] as string],
] as const

/** With explicit calls, the application itself clears its cookie. */
const [EXPLICIT, FRAMEWORKS] = [NOTICE_HOSTS.slice(-1), NOTICE_HOSTS.slice(0, -1)]
/** @fastify/session clears the cookie of a session that it does not find, on whatever answer. */
const FASTIFY = NOTICE_HOSTS.filter(([name]) => name === 'Fastify')
const KEEPING = FRAMEWORKS.filter((host) => !FASTIFY.includes(host))
const OWN_REMOVAL = /^sessionId=; Max-Age=0;/
const NOTICE = /^sessmgr_notice=[\da-f]{64}(\.\d+)?;/

const namesIn = (browser: Browser) => [...browser.cookies.keys()]

/** Opens a browser of alice whose session is over, and one of bob who is signed in, both behind the cache. */
async function open(start: StartNoticeHost, end: 'displaced' | 'site-wide') {
  const sessions = new JsonSessions()
  const stale: unknown[] = []
  const host = await start({ settings: { maximum: 1, logic: 'allow' } }, sessions)
  host.limiter.hooks.addAction('sessmgr_session_invalidated', 'test', (user) => void stale.push(user))
  const direct = { alice: host.browser(), bob: host.browser() }
  await direct.alice.login('alice')
  if (end === 'site-wide') await host.limiter.sessions.logoutAllUsers()
  else await host.browser().login('alice')
  await direct.bob.login('bob')
  const cache = await startSharedCache(host.origin)
  const before = sessions.sessions.size
  return { alice: direct.alice.copy(cache), bob: direct.bob.copy(cache), sessions, before, stale }
}

test.each(KEEPING)(
  "rule 58: with %s, after a session has ended nobody gets another visitor's cookies from a shared cache",
  async (_name, start) => {
    for (const [end, path] of ENDS) {
      const { alice, bob, sessions, before, stale } = await open(start, end)
      const own = namesIn(alice)
      const first = await alice.get(path, PAGE)
      expect([first.headers.get('x-cache'), first.setCookies]).toEqual(['miss', []])
      if (end === 'site-wide') expect([sessions.sessions.size, stale.length]).toEqual([before - 1, 1])

      const kept = namesIn(bob)
      expect((await bob.get(path, PAGE)).headers.get('x-cache')).toBe('hit')
      expect([namesIn(bob), await bob.me()]).toEqual([kept, 200])

      // The next page for one visitor makes up for it.
      expect(namesIn(alice)).toEqual(own)
      const next = await alice.get('/page', PAGE)
      expect(next.text).toContain(end === 'site-wide' ? 'logout_all' : 'displaced')
      // Decision 71: the session's cookie stays as it is, and the notice stays for other tabs.
      expect(next.setCookies).toEqual([expect.stringMatching(NOTICE)])
      expect(namesIn(alice)).toEqual([...own, 'sessmgr_notice'])
      expect([await alice.me(), next.headers.get('cache-control')]).toEqual([401, 'private'])
      expect(stale).toHaveLength(end === 'site-wide' ? 1 : 0)
    }
  },
)

test.each(FASTIFY)('decision 71: with %s, a page for shared caches has no cookie of sessmgr', async (_name, start) => {
  for (const [end, path] of ENDS) {
    const { alice, sessions, before, stale } = await open(start, end)
    const first = await alice.get(path, PAGE)
    expect(first.setCookies).toEqual([expect.stringMatching(OWN_REMOVAL)])
    expect(first.headers.get('cache-control')).toBe(new URL(path, 'http://localhost').searchParams.get('cache'))
    if (end === 'site-wide') expect([sessions.sessions.size, stale.length]).toEqual([before - 1, 1])
  }
})

test.each(FRAMEWORKS)(
  'rule 58: with %s, no cache keeps a page that sets the cookie of a notice',
  async (name, start) => {
    for (const path of ['/quiet?old', '/quiet?old&cache=max-age%3D300']) {
      const { alice, bob } = await open(start, 'displaced')
      const first = await alice.get(path, PAGE)
      const own = name === 'Fastify' ? [OWN_REMOVAL] : []
      expect(first.setCookies.toSorted()).toEqual([...own, NOTICE].map((cookie) => expect.stringMatching(cookie)))
      expect(first.headers.get('cache-control')).toMatch(/private$/)
      const second = await bob.get(path, PAGE)
      expect(second.headers.get('x-cache')).toBe('miss')
      expect(String(second.setCookies)).not.toMatch(/notice|=;/)
      expect(await bob.me()).toBe(200)
      // Without a change of cookies, the page stays as the application has marked it.
      expect((await bob.get(path, PAGE)).headers.get('x-cache')).toBe('hit')
    }
  },
)

test.each(EXPLICIT)('rule 58: with %s, no notice is in a page for shared caches', async (_name, start) => {
  const { alice } = await open(start, 'displaced')
  expect(String((await alice.get(String(CACHED[0]), PAGE)).setCookies)).not.toContain('notice')
})

test('rule 58: a login on a page for shared caches sets no device cookie, and makes any other page private', async () => {
  const limiter = createLimiter({ device: true })
  const app = express()
  app.use((req, res, next) => {
    // A middleware that makes pages public at the end.
    if (req.query.late) onHeaders(res, () => res.setHeader('Cache-Control', String(req.query.late)))
    next()
  })
  app.use(session({ secret: 'test', resave: false, saveUninitialized: false }), limiter)
  app.get('/callback', async (req, res) => {
    await limiter.login(req, { id: 2, login: 'alice' } as never)
    if (req.query.cache) res.set('Cache-Control', String(req.query.cache))
    res.send('signed in')
  })
  const origin = await listen(app)
  for (const [query, hasCookie, cached] of [
    ['?cache=public', false, 'public'],
    ['', true, 'private'],
    ['?late=public', true, 'public, private'],
  ] as const) {
    const { setCookies, headers } = await new Browser(origin).get(`/callback${query}`)
    expect([String(setCookies).includes('sessmgr_device'), headers.get('cache-control')], query).toEqual([
      hasCookie,
      cached,
    ])
  }
})
