import { expect, it, vi } from 'vitest'
import { memorySink } from '../../../src/audit.ts'
import { SiteSecrets } from '../../../src/auth/site-secrets.ts'
import { memoryStore, type SessmgrOptions, type SessmgrStore } from '../../../src/index.ts'
import { coreOf } from '../../../src/service/service-core.ts'
import type { PersonChange } from '../../../src/sessions/people-index.ts'
import { withPrivateTransients } from '../../../src/stores/private-transients.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import type { Browser } from '../../support/browser.ts'
import { type ExpressHost, startExpressHost } from '../../support/express-host.ts'
import { createGate } from '../../support/gates.ts'
import { asked, BOB, CHOOSE, choosing, signedIn } from '../choice/choice-host.ts'

const SECRET = 'a secret of the application, 32 characters'
const REAUTHENTICATE = '/api/sessmgr/v1/me/reauthenticate'

/**
 * Starts an application that asks users which session to end, for a password and for a code.
 *
 * @param choices How many choices a user may make in an hour.
 */
function start(store: SessmgrStore, choices: number, sessmgr: SessmgrOptions = {}): Promise<ExpressHost> {
  return startExpressHost({
    sessmgr: { store, settings: { maximum: 2, logic: 'ask' }, ...sessmgr },
    choice: { verify: (_request, _user, { code }) => code === 'right', cooldown: { count: choices, minutes: 60 } },
    account: { stepUp: { verify: (_request, password) => password === 'right' } },
    authenticate: { failureRedirect: '/login' },
  })
}

/** Tries a password on the devices page. Returns the status. */
async function guess(browser: Browser, password: string): Promise<number> {
  const headers = { 'x-host-nonce': (await browser.get('/nonce')).text }
  return (await browser.request('POST', REAUTHENTICATE, { headers, json: { password } })).status
}

/** Signs bob in on a new device in place of another, with a wrong code first. Returns the browser. */
async function chooseInsteadOf(host: ExpressHost, device: string): Promise<Browser> {
  const [browser, page] = await asked(host)
  const wrong = await browser.post(CHOOSE, [...(choosing(page, device) as [string, string][]), ['code', 'wrong']])
  const again = wrong.location ? await browser.get(wrong.location) : wrong
  await browser.post(CHOOSE, [...(choosing(again, device) as [string, string][]), ['code', 'right']])
  if ((await browser.me()) !== 200) throw new Error('the choice failed')
  return browser
}

/** A store in memory that knows every key it has written, and holds back one change of its index of people. */
function watchedStore() {
  const store = memoryStore()
  const { transients, people, passwords } = store
  const set = vi.spyOn(transients, 'set')
  const gate = createGate()
  let isHeld = false
  /** The changes that the index has made, in order. */
  const noted: PersonChange[] = []
  const note = people.note.bind(people)
  vi.spyOn(people, 'note').mockImplementation(async (changes) => {
    const isOfBob = changes.some(({ userId }) => String(userId) === String(BOB))
    if (isHeld && isOfBob) {
      isHeld = false
      await gate.pass()
    }
    await note(changes)
    noted.push(...changes)
  })
  return {
    store,
    passwords,
    noted,
    gate,
    holdNextChange() {
      isHeld = true
    },
    /** Returns the keys that are left, by kind. */
    async kinds(): Promise<string[]> {
      const keys = [...new Set(set.mock.calls.map(([key]) => key))]
      const left: string[] = []
      for (const key of keys) if ((await transients.get(key)) !== undefined) left.push(key)
      return left.map((key) => key.replace(/:[\w-]{43}$/, '')).toSorted()
    },
  }
}

it('rule 63: an erased user is gone from the strings of the store and from the memory of the process', async () => {
  const sink = memorySink()
  const { store, passwords, noted, gate, holdNextChange, kinds } = watchedStore()
  const host = await start(store, 5, { secret: SECRET, device: true, directory: true, audit: { sink, mode: 'before' } })
  const { limiter } = host
  await limiter.sessions.logoutAllUsers(undefined, { by: 'admin', actor: BOB })
  const [windows, linux] = (await signedIn(host, 'windows', 'linux')) as [Browser, Browser]
  expect([await guess(linux, 'wrong'), await guess(linux, 'right')]).toEqual([403, 200])
  const { password } = await limiter.passwords.create(BOB, 'script')
  expect(await limiter.passwords.verify(BOB, password)).toBe(true)
  holdNextChange()
  const phone = await chooseInsteadOf(host, 'Chrome on Windows')
  expect(await windows.me()).toBe(401)
  const [waiting, page] = await asked(host, 'windows')
  await gate.arrived

  const sessionId = linux.sessionId() as string
  const data = host.store.read(sessionId) as never
  expect((await sink.read?.({ limit: 100, users: [BOB] }))?.events).not.toEqual([])
  const guard = coreOf(limiter).guards.of(host.store as never, () => expect.unreachable())
  expect(guard.seen.get(sessionId)).toBeDefined()
  const stateOf = () => store.sessions.changeState(BOB, ({ sessions: _, ...state }) => ({ result: state }))
  expect(await stateOf()).toMatchObject({
    devices: expect.anything(),
    counts: expect.anything(),
    pending: expect.anything(),
  })
  await vi.waitFor(async () => expect(await kinds()).toEqual(['ended', 'ended', 'password-used']))

  // The index is slow, and is done only after the passwords are gone.
  const erase = passwords.erase.bind(passwords)
  vi.spyOn(passwords, 'erase').mockImplementation(async (userId) => {
    await erase(userId)
    setImmediate(() => gate.open())
  })
  const erased = await limiter.eraseUser(BOB)
  expect(erased).toEqual({ sessions: 2, passwords: 1, events: expect.any(Number) })

  const erasure = [expect.any(Number), expect.any(Number)]
  expect(await stateOf()).toEqual({ ended: [], mark: 0, erased: erasure })
  // Reasons: only the browsers know their keys.
  const left = ['ended', 'ended', 'ended', 'ended', 'erased']
  expect(await kinds()).toEqual(left)
  const thief = withPrivateTransients(store, new SiteSecrets(store.options, [])).transients
  expect(await thief.get(`erased:${BOB}`)).toBeUndefined()
  expect(JSON.parse((await thief.get('ended:all')) ?? '')[3]).toBeNull()

  const ofBob = noted.filter(({ userId }) => String(userId) === String(BOB))
  expect(ofBob.at(-1)).toMatchObject({ live: 0, at: Number.MAX_SAFE_INTEGER })
  expect((await store.people.page({ sort: 'recent', limit: 10 })).people).toEqual([])
  expect((await sink.read?.({ limit: 100, users: [BOB] }))?.events).toEqual([])

  expect(guard.seen.get(sessionId)).toBeUndefined()
  // A late save, by a request whose application has rebuilt the session, brings nothing back.
  const rebuilt = { cookie: (data as { cookie: object }).cookie, passport: { user: BOB } }
  await new Promise<void>((resolve) => host.store.set(sessionId, rebuilt as never, () => resolve()))
  expect([host.store.read(sessionId), await limiter.sessions.count(BOB)]).toEqual([undefined, 0])

  expect([await linux.me(), await phone.me()]).toEqual([401, 401])
  await waiting.post(CHOOSE, [...(choosing(page, 'Firefox on Linux') as [string, string][]), ['code', 'right']])
  expect([await waiting.me(), await limiter.sessions.count(BOB)]).toEqual([401, 0])
})

it('rule 63: an erased user starts to count anew', async () => {
  const clock = fakeClock(Date.now())
  const host = await start(memoryStore({ clock }), 1)
  const [, linux] = (await signedIn(host, 'windows', 'linux')) as [Browser, Browser]
  await chooseInsteadOf(host, 'Chrome on Windows')
  expect((await asked(host, 'windows'))[1].status).toBe(429)
  for (let tries = 0; tries < 5; tries++) expect(await guess(linux, 'wrong')).toBe(403)
  expect(await guess(linux, 'right')).toBe(429)

  await host.limiter.eraseUser(BOB)
  clock.advance(4000)
  const [, late] = (await signedIn(host, 'windows', 'linux')) as [Browser, Browser]
  expect([await guess(late, 'wrong'), await guess(late, 'right')]).toEqual([403, 200])
  await chooseInsteadOf(host, 'Chrome on Windows')
})
