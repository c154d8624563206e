import { describe, expect, it } from 'vitest'
import { boundSessions } from '../../../src/bound.ts'
import { memoryStore } from '../../../src/index.ts'
import { HttpsBrowser } from '../../support/browser.ts'
import { DeviceKey, loseProof, registrationIn } from '../../support/device-key.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startFetchHost } from '../../support/fetch-host.ts'
import type { HostUnderTest, StartHost } from '../../support/host-under-test.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { ask, choose, startFull } from '../choice/choice-hosts.ts'

const WAYS = ['/login', '/callback-login', '/own-login', '/direct-login']
const HOSTS: readonly (readonly [string, StartHost, readonly string[]])[] = [
  ['Express', startExpressHost, WAYS],
  ['Fastify', startFastifyHost, WAYS],
  ['Koa', startKoaHost, WAYS],
  ['a Request', startFetchHost, ['/login']],
]
const FORM = { username: 'alice', password: 'secret' }
const HTTPS = { 'x-forwarded-proto': 'https' }

const bound = (host: HostUnderTest['limiter']) => boundSessions(host)

describe.each(HOSTS)('bound sessions on %s', (_, start, ways) => {
  it.each(ways)('begin with a login by %s, and need a proof', async (way) => {
    const host = await start({ bound })
    const browser = host.browser()
    const key = new DeviceKey()
    const login = await browser.post(way, FORM)
    const early = browser.copy()
    expect([login.status < 400, await browser.me()], 'before the key is registered').toEqual([true, 200])
    expect((await key.register(browser, login)).status).toBe(200)

    const { session } = (await browser.get('/state')).json<{ session: { userId: number; bound: string } }>()
    expect(session.bound).toBe(key.bound)
    expect(await host.limiter.sessions.list(session.userId)).toMatchObject([{ bound: session.bound }])
    expect(registrationIn(await browser.get('/')), 'only the response to a login asks').toBeUndefined()
    expect(await early.me(), 'a request that was on its way').toBe(200)
    loseProof(browser)
    const refused = await browser.get('/me')
    expect([refused.status, refused.json()]).toMatchObject([401, { code: 'device_proof_missing' }])
    expect((await key.refresh(browser)).status).toBe(200)
    expect(await browser.me()).toBe(200)
  })

  it('begin with a login that was continued on the choice page', async () => {
    const { host } = await startFull(start, { bound })
    const { browser, tokens } = await ask(host)
    const key = new DeviceKey()
    expect((await key.register(browser, await choose(browser, tokens.slice(0, 1)))).status).toBe(200)
    expect((await browser.get('/state')).text).toContain(key.bound)
  })

  it('change nothing for a browser that cannot bind', async () => {
    const host = await start({ bound })
    const browser = host.browser()
    await browser.post('/login', FORM)
    loseProof(browser)
    expect([await browser.me(), (await browser.get('/state')).text.includes('bound')]).toEqual([200, false])
    expect(host.errors).toEqual([])
  })

  it('tell a browser whose session has ended to forget it, once its proof is over', async () => {
    const host = await start({ bound, session: { cookie: { secure: 'auto' } } })
    const browser = new HttpsBrowser(host.origin)
    const key = new DeviceKey()
    await key.register(browser, await browser.post('/login', FORM))
    await host.limiter.sessions.endAll(2)
    const early = await key.prove(browser, '')
    expect([early.status, early.text, early.setCookies.join()]).toEqual([200, '', expect.not.stringContaining('bound')])
    loseProof(browser)
    expect((await key.prove(browser, key.answerTo('any'))).json()).toEqual({ continue: false })
    expect(await browser.me()).toBe(401)
  })

  it('name their cookie and its attributes as the browser gets it over HTTPS', async () => {
    const host = await start({ bound, session: { cookie: { secure: 'auto' } } })
    const browser = host.browser()
    const key = new DeviceKey()
    const { path = '', challenge = '' } = registrationIn(await browser.post('/login', FORM, HTTPS)) ?? {}
    const response = key.answerTo(challenge)
    // Without a cookie, as after a login that another site has begun.
    const answer = await host
      .browser()
      .request('POST', path, { headers: { ...HTTPS, 'secure-session-response': response } })
    const [credential] = answer.json<{ credentials: { name: string; attributes: string }[] }>().credentials
    const cookie = answer.setCookies.find((text) => text.startsWith(`${credential?.name}=`)) ?? ''
    const attributes = (text: string) =>
      text
        .split('; ')
        .filter((part) => !/^Max-Age|=.*\./.test(part))
        .sort()
    expect(attributes(cookie)).toEqual(attributes(credential?.attributes ?? ''))
  })
})

it.each(HOSTS.slice(0, 3))('a refused request is no use of its session, on %s', async (_, start) => {
  let now = Date.now()
  const clock = { now: () => now }
  const host = await start({ bound, sessmgr: { store: memoryStore({ clock }), touchEvery: 0 } })
  const browser = host.browser()
  const key = new DeviceKey()
  await key.register(browser, await browser.post('/login', FORM))
  const lastUse = async () => (await host.limiter.sessions.list(2))[0]?.lastSeenAt
  now += 1000
  expect([await browser.me(), await lastUse()]).toEqual([200, now])
  const before = now
  loseProof(browser)
  now += 1000
  expect([await browser.me(), await lastUse()]).toEqual([401, before])
  await key.challenge(browser)
  expect(await lastUse(), 'also on the routes that the browser itself asks').toBe(before)
})
