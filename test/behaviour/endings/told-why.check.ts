import { describe, expect, onTestFinished, test } from 'vitest'
import { type EndedKind, tokenOf } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { ExampleApp } from '../../support/example-app.ts'
import { ExampleProcess } from '../../support/example-process.ts'
import { startRedis } from '../../support/redis-server.ts'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:148.0) Gecko/20100101 Firefox/148.0'
const APP_PASSWORD = 'abcdefghijklmnopqrstuvwx'
const PAGE = { headers: { accept: 'text/html' } }

/** What the notice says after "You were signed out on this device.", or instead of it. */
const SENTENCES: Partial<Record<EndedKind, string>> = {
  displaced: 'this account signed in on <bdi>Firefox on Windows</bdi>.',
  user: 'on <bdi>Firefox on Windows</bdi>.',
  admin: 'An administrator did that',
  app: 'The shop is closed.',
  logout_all: 'Everyone was signed out.',
}

/** Two processes of the example on one store: this one, and where the laptop is signed in. */
interface Site {
  readonly here: ExampleApp
  readonly laptops: string
}

/** Somebody who is signed in on a laptop, and whose session is about to end. */
interface Person extends Site {
  readonly login: string
  readonly userId: number
  readonly token: string
}

const signInHere = async ({ here, login }: Person): Promise<Browser> => {
  const phone = here.browser()
  expect((await here.login(phone, login, {}, { 'user-agent': FIREFOX })).status).toBe(302)
  return phone
}

async function asAdmin({ here }: Site, route: string, body?: object): Promise<void> {
  const headers = { authorization: `Basic ${btoa(`admin:${APP_PASSWORD}`)}`, 'content-type': 'application/json' }
  const answer = await fetch(`${here.origin}/api/sessmgr/v1/sessions/${route}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body ?? {}),
  })
  expect(answer.status).toBe(200)
}

/** Ends the session of the laptop, in this process. */
const ENDINGS: Partial<Record<EndedKind, (person: Person) => Promise<unknown>>> = {
  displaced: signInHere,
  async user(person) {
    const phone = await signInHere(person)
    const { text } = await phone.get('/account/sessions', PAGE)
    const proof = /name="proof" value="([^"]+)"/.exec(text)?.[1] ?? ''
    expect((await phone.post('/account/sessions', { proof, end: person.token })).status).toBe(303)
  },
  admin: (person) => asAdmin(person, 'destroy', { user: person.login }),
  app: ({ here, userId, token }) => here.limiter.sessions.end(userId, token, { note: 'The shop is closed.' }),
  logout_all: (person) => asAdmin(person, 'destroy-all'),
}

const KINDS = Object.keys(ENDINGS) as EndedKind[]
/** The mode makes a difference to a session that a login displaces, and to no other. */
const CASES = [...KINDS.map((kind) => ({ mode: 'logout_oldest', kind })), { mode: 'allow', kind: 'displaced' as const }]

async function expectTold(site: Site, kind: EndedKind, userId: number): Promise<void> {
  const login = `user${userId - 1000}`
  const laptop = new Browser(site.laptops)
  await site.here.login(laptop, login)
  const token = tokenOf(laptop.sessionId() ?? '')
  const from = Date.now()
  await ENDINGS[kind]?.({ ...site, login, userId, token })
  const until = Date.now()

  const script = await laptop.get('/me', { headers: { 'sec-fetch-mode': 'cors', accept: 'application/json' } })
  const image = await laptop.get('/none.png', { headers: { 'sec-fetch-mode': 'no-cors', accept: 'image/*' } })
  const redirect = await laptop.get('/admin', PAGE)
  expect([script.status, image.status, redirect.status]).toEqual([401, 404, 302])

  const { text } = await laptop.get(redirect.location ?? '', PAGE)
  const notice = /<div class="sessmgr-notice.*?<\/div>/s.exec(text)?.[0] ?? ''
  expect(notice).toContain(SENTENCES[kind])
  const at = Date.parse(/<time datetime="([^"]+)"/.exec(notice)?.[1] ?? '')
  // A site-wide logout is dated by whole seconds, of the clock of the store.
  expect([at >= from - 2000, at <= until]).toEqual([true, true])
  expect(notice).not.toMatch(/127\.0\.0\.1|Gecko|148/)
  // Other tabs, which arrive anywhere, say so until the next login.
  for (const path of ['/', '/login']) expect((await laptop.get(path, PAGE)).text).toContain(SENTENCES[kind])
  await site.here.login(laptop, login)
  expect((await laptop.get('/', PAGE)).text).not.toContain('sessmgr-notice')
}

async function startSite(where: string): Promise<Site> {
  const env: Record<string, string> = { SEED_USERS: String(CASES.length), SEED_APP_PASSWORD: APP_PASSWORD }
  if (where === 'Redis') {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    env.REDIS_URL = redis.url
  }
  const here = await ExampleApp.start(env)
  onTestFinished(() => here.stop())
  // Memory is that of one process.
  if (where === 'memory') return { here, laptops: here.origin }
  const other = await ExampleProcess.start(env)
  onTestFinished(async () => void (await other.stop()))
  return { here, laptops: other.origin }
}

describe.each(['memory', 'Redis'])('the next page of somebody who was signed out, on %s', (where) => {
  test('says once why, when and from where, whatever scripts, images and redirects came before', async () => {
    const site = await startSite(where)
    for (const [index, { mode, kind }] of CASES.entries()) {
      await site.here.limiter.settings.update({ logic: mode, maximum: kind === 'displaced' ? 1 : 2 })
      await expectTold(site, kind, 1001 + index)
    }
  })
})
