import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { boundSessions } from '../../src/bound.ts'
import { coreOf } from '../../src/extend.ts'
import { bindingSessions } from '../../src/extensions/bound/bound-sessions.ts'
import { type Answer, Browser, type Carried } from '../support/browser.ts'
import { startCalled } from '../support/called-process.ts'
import { startDeviceChromium } from '../support/device-chromium.ts'
import { DeviceKey, loseProof } from '../support/device-key.ts'
import { startExpressHost } from '../support/express-host.ts'
import { startHttpsProxy } from '../support/https-proxy.ts'
import { startRedis } from '../support/redis-server.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

/** Opens a signed-in page of an application whose sessions are bound, in a real Chromium. */
async function open(bound: NonNullable<Parameters<typeof startExpressHost>[0]>['bound'], hasQuota: boolean) {
  const host = await startExpressHost({ bound })
  const proxy = await startHttpsProxy(host.origin)
  onTestFinished(proxy.close)
  const chromium = await startDeviceChromium({ hasQuota })
  onTestFinished(chromium.close)
  const page = await chromium.context.newPage()
  await page.goto(proxy.origin)
  const body = 'username=alice&password=secret'
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  await page.evaluate(async (init) => void (await fetch('/login', init)), { method: 'POST', body, headers })
  const isBound = () => page.evaluate(async () => Boolean((await (await fetch('/state')).json()).session.bound))
  await expect.poll(isBound).toBe(true)
  const refreshes = () => proxy.log.filter(([, path, status]) => path === '/session/refresh' && status === 200).length
  const me = () => page.evaluate(async () => (await fetch('/me')).status)
  return { host, chromium, refreshes, me }
}

it('200 proofs without one refused request, in Chromium without its quota', async () => {
  const parts = { path: '/session', url: undefined, proofMs: 1000, initiators: [], required: () => false }
  const { me, refreshes } = await open((limiter) => bindingSessions(coreOf(limiter), parts), false)
  const statuses = new Map<number, number>()
  while (refreshes() < 200) {
    const status = await me()
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    await sleep(100)
  }
  expect([...statuses.keys()]).toEqual([200])
})

it(
  'an hour at the default without one refused request, in Chromium as users have it, and a copy is dead',
  async () => {
    const { host, chromium, me, refreshes } = await open((limiter) => boundSessions(limiter), true)
    const cookies = await chromium.context.cookies()
    const thief = new Browser(host.origin)
    for (const { name, value, path } of cookies) thief.cookies.set(name, { value, path })
    const statuses: number[] = []
    for (const end = Date.now() + HOUR; Date.now() < end; await sleep(10_000)) statuses.push(await me())
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(refreshes()).toBeGreaterThanOrEqual(5)
    expect(await thief.me()).toBe(401)
  },
  2 * HOUR,
)

it('10,000 replays of a copied cookie: none is served', async () => {
  const parts = { path: '/session', url: undefined, proofMs: 500, initiators: [], required: () => false }
  const host = await startExpressHost({ bound: (limiter) => bindingSessions(coreOf(limiter), parts) })
  const browser = host.browser()
  const key = new DeviceKey()
  await key.register(browser, await browser.login('alice'))
  // Without the proof of the login, which is good for two minutes here as well.
  loseProof(browser)
  await key.refresh(browser)
  const thief = browser.copy()
  await sleep(1000)
  const kinds: Carried[] = [
    {},
    { headers: { 'secure-session-skipped': 'unreachable' } },
    { headers: { accept: 'text/html' } },
  ]
  const statuses = new Set<number>()
  for (let round = 0; round < 100; round++) {
    const replays = Array.from({ length: 100 }, (_, index) => thief.request('GET', '/me', kinds[index % 3] as Carried))
    for (const { status } of await Promise.all(replays)) statuses.add(status)
  }
  expect([...statuses]).toEqual([401])
  await key.refresh(browser)
  expect(await browser.me()).toBe(200)
})

/** A browser whose requests go to one process or another, as behind a balancer. */
class Visitor extends Browser {
  readonly #ways: readonly Browser[]
  readonly #key = new DeviceKey()
  #proofUntil = 0

  constructor(origins: readonly string[]) {
    super('')
    this.#ways = origins.map((origin) => Object.assign(new Browser(origin), { cookies: this.cookies }))
  }

  override request(method: string, path: string, carried: Carried): Promise<Answer> {
    const way = this.#ways[Math.floor(Math.random() * this.#ways.length)] as Browser
    return way.request(method, path, carried)
  }

  async signIn(name: string): Promise<void> {
    const answer = await this.#key.register(this, await this.login(name))
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${answer.text}`)
    this.#proofUntil = Date.now() + MINUTE
  }

  /** Requests a page, once there is a proof, as a browser does. */
  async visit(): Promise<number> {
    if (Date.now() > this.#proofUntil) {
      const begun = Date.now()
      loseProof(this)
      const { status } = await this.#key.refresh(this)
      if (status !== 200) return -status
      this.#proofUntil = begun + MINUTE
    }
    return this.me()
  }
}

it('1,000 users on two processes with a proof a minute: nobody is signed out', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const processes = await Promise.all([0, 1].map(() => startCalled('bound-process.mjs', { url: redis.url })))
  onTestFinished(async () => void (await Promise.all(processes.map((each) => each.kill()))))
  const origins = await Promise.all(processes.map((each) => each.call<string>('origin')))
  const visitors = Array.from({ length: 1000 }, () => new Visitor(origins))
  for (let at = 0; at < visitors.length; at += 50) {
    await Promise.all(visitors.slice(at, at + 50).map((visitor, index) => visitor.signIn(`user ${at + index}`)))
  }
  const statuses = new Map<number, number>()
  const end = Date.now() + 4 * MINUTE
  const use = async (visitor: Visitor) => {
    while (Date.now() < end) {
      const status = await visitor.visit()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await sleep(2000 + 4000 * Math.random())
    }
  }
  await Promise.all(visitors.map(use))
  console.log(`requests by status: ${JSON.stringify([...statuses])}`)
  expect([...statuses.keys()]).toEqual([200])
})
