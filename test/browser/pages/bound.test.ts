import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { coreOf } from '../../../src/extend.ts'
import { bindingSessions } from '../../../src/extensions/bound/bound-sessions.ts'
import type { Middleware, Sessmgr } from '../../../src/index.ts'
import { type Browser, HttpsBrowser } from '../../support/browser.ts'
import { deferred } from '../../support/deferred.ts'
import { startDeviceChromium } from '../../support/device-chromium.ts'
import { DeviceKey } from '../../support/device-key.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startFetchHost } from '../../support/fetch-host.ts'
import { forThisFile } from '../../support/for-this-file.ts'
import type { HostSetup, HostUnderTest, StartHost } from '../../support/host-under-test.ts'
import { startHttpsProxy } from '../../support/https-proxy.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'

const HOSTS: readonly (readonly [string, StartHost])[] = [
  ['Express', startExpressHost],
  ['Fastify', startFastifyHost],
  ['Koa', startKoaHost],
  ['a Request', startFetchHost],
]
/** Much shorter than an application may choose. */
const PROOF_MS = 1000
const parts = { path: '/session', url: undefined, proofMs: PROOF_MS, initiators: [], required: () => false }
const bound = (limiter: Sessmgr) => bindingSessions(coreOf(limiter), parts)
const over = 2 * PROOF_MS + 500
/** With proofs for so long, Chromium gets the next one ahead of time, in parallel with each request. */
const early = (limiter: Sessmgr) => bindingSessions(coreOf(limiter), { ...parts, proofMs: 60_000 })

const chromium = forThisFile(startDeviceChromium)

/** Opens an application behind a proxy that ends HTTPS, in a browser without cookies. */
async function open(start: StartHost, setup: HostSetup = {}) {
  const host = await start({ bound, ...setup })
  const proxy = await startHttpsProxy(host.origin)
  onTestFinished(proxy.close)
  const { context } = chromium
  await context.clearCookies()
  const page = await context.newPage()
  onTestFinished(() => page.close())
  await page.goto(proxy.origin)
  return { host, proxy, page, context }
}

/** Signs in with a script. */
const signIn = (page: Page, username = 'alice') =>
  page.evaluate(async (name) => {
    const body = new URLSearchParams({ username: name, password: 'secret' })
    return (await fetch('/login', { method: 'POST', body })).status
  }, username)
const get = (page: Page, path = '/me') => page.evaluate(async (url) => (await fetch(url)).status, path)
const isBound = (page: Page) =>
  page.evaluate(async () => Boolean((await (await fetch('/state')).json()).session?.bound))
/** The same application, for a browser on another site. */
const elsewhere = ({ origin }: { readonly origin: string }) => origin.replace('localhost', '127.0.0.1')
/** Removes the proofs, as if they were over. */
const endProofs = (context: BrowserContext) => context.clearCookies({ name: /sessmgr_bound_/ })
/** Makes a page forget when it was requested again, as a few seconds do. */
const passSeconds = (page: Page) => page.evaluate(() => sessionStorage.clear())
const untilBound = (page: Page) => expect.poll(() => isBound(page)).toBe(true)

/** Copies the cookies of a browser, except the proof of its login, which is good for two minutes here as well. */
async function thiefOf(context: BrowserContext, { origin, limiter }: HostUnderTest): Promise<Browser> {
  const thief = new HttpsBrowser(origin)
  const [session] = await limiter.sessions.list(2)
  for (const { name, value, path } of await context.cookies()) {
    if (!name.endsWith(`_${session?.token.slice(-8)}`)) thief.cookies.set(name, { value, path })
  }
  return thief
}

describe.each(HOSTS)('a session bound by Chromium, on %s', (_, start) => {
  it('goes on in the browser, in parallel requests, other tabs and pages, but not for a copy of its cookies', async () => {
    const { host, proxy, page, context } = await open(start)
    expect(await signIn(page)).toBe(200)
    await untilBound(page)
    const thief = await thiefOf(context, host)
    expect(await thief.me(), 'at once').toBe(200)

    await page.waitForTimeout(over)
    const statuses = await page.evaluate(async () =>
      Promise.all(Array.from({ length: 20 }, async () => (await fetch('/me')).status)),
    )
    expect(statuses).toEqual(Array(20).fill(200))
    expect([await thief.me(), (await thief.get('/me')).text]).toEqual([
      401,
      expect.stringContaining('device_proof_missing'),
    ])
    const tab = await context.newPage()
    onTestFinished(() => tab.close())
    await endProofs(context)
    expect((await tab.goto(`${proxy.origin}/me`))?.status(), 'a page').toBe(200)
    await endProofs(context)
    expect(await Promise.all([get(page), get(tab)]), 'two tabs').toEqual([200, 200])
    for (let times = 0; times < 5; times++) {
      await page.waitForTimeout(PROOF_MS / 2)
      expect(await get(page)).toBe(200)
    }
    expect(await thief.me()).toBe(401)
  })

  it('ends for the browser as any other: displaced, for everybody, and by its own logout', async () => {
    const { host, page, context } = await open(start)
    await signIn(page)
    await untilBound(page)
    await host.browser().login('alice')
    expect(await get(page), 'displaced').toBe(401)
    await signIn(page)
    await untilBound(page)
    await host.limiter.sessions.logoutAllUsers()
    await endProofs(context)
    expect(await get(page), 'for everybody').toBe(401)
    await signIn(page)
    await untilBound(page)
    await endProofs(context)
    expect(await get(page)).toBe(200)
  })
})

it('a login by a form binds the session as well', async () => {
  const further: NonNullable<Parameters<typeof startExpressHost>[0]>['further'] = ({ app }) =>
    app.get('/form', (_request, response) => {
      response.send(
        '<form method="post" action="/login"><input name="username"><input name="password"><button>in</button>',
      )
    })
  const { page, proxy } = await open((setup) => startExpressHost({ ...setup, further }))
  await page.goto(`${proxy.origin}/form`)
  await page.fill('[name=username]', 'alice')
  await page.fill('[name=password]', 'secret')
  await page.click('button')
  await page.goto(`${proxy.origin}/`)
  await untilBound(page)
})

it('a login that another site has begun binds the session as well', async () => {
  const { page, proxy, context } = await open(startExpressHost, { session: { cookie: { sameSite: 'lax' } } })
  await page.goto(elsewhere(proxy))
  const submitted = page.waitForURL(`${proxy.origin}/**`)
  await page.evaluate((action) => {
    const form = Object.assign(document.createElement('form'), { method: 'post', action })
    form.innerHTML = '<input name="username" value="alice"><input name="password" value="secret">'
    document.body.append(form)
    form.submit()
  }, `${proxy.origin}/login`)
  await submitted
  await page.goto(proxy.origin)
  await untilBound(page)
  await endProofs(context)
  expect(await get(page)).toBe(200)
})

it('a login whose session has another id before the key is registered binds it as well', async () => {
  const { page, proxy, context } = await open(startExpressHost)
  const changed = page.evaluate(async () => {
    const body = new URLSearchParams({ username: 'alice', password: 'secret' })
    await fetch('/login', { method: 'POST', body })
    await fetch('/rotate', { method: 'POST' })
  })
  proxy.hold = (path) => (path === '/session/start' ? changed : undefined)
  await changed
  await untilBound(page)
  await endProofs(context)
  expect(await get(page)).toBe(200)
})

it('the id of a session may change while Chromium gets a proof ahead of time', async () => {
  const { page, proxy, context } = await open(startExpressHost, {
    bound: early,
    session: { cookie: { secure: 'auto' } },
  })
  await signIn(page)
  await untilBound(page)
  const post = (path: string) => page.evaluate(async (url) => (await fetch(url, { method: 'POST' })).status, path)
  for (const change of [() => post('/rotate'), () => signIn(page)]) {
    const changed = change()
    proxy.hold = (path) => (path === '/session/refresh' ? changed : undefined)
    expect(await changed).toBeLessThan(300)
    const refreshes = () => proxy.log.filter(([, path]) => path === '/session/refresh').length
    const before = refreshes()
    await expect.poll(refreshes).toBeGreaterThan(before)
    proxy.hold = () => undefined
    await endProofs(context)
    expect([await get(page), await isBound(page)]).toEqual([200, true])
  }
})

it('the id of a session may change in a slow response while the proof ends, and other requests are on their way', async () => {
  const changing = deferred()
  const changed = deferred()
  const further: NonNullable<Parameters<typeof startExpressHost>[0]>['further'] = ({ app }) =>
    app.post('/again', (request, response, next) => {
      request.logIn(request.user as Express.User, (error) => {
        if (error) return next(error)
        changing.resolve()
        changed.promise.then(() => response.sendStatus(204))
      })
    })
  const { page, context } = await open((setup) => startExpressHost({ ...setup, further }))
  await signIn(page)
  await untilBound(page)
  const again = page.evaluate(async () => (await fetch('/again', { method: 'POST' })).status)
  await changing.promise
  await endProofs(context)
  expect([await get(page), await get(page)], 'with the earlier id').toEqual([401, 401])
  changed.resolve()
  expect(await again).toBe(204)
  expect([await get(page), await isBound(page)]).toEqual([200, true])
})

it('a page opens although another site, or another port, leads to it after the proof is over', async () => {
  const { host, page, proxy, context } = await open(startExpressHost)
  const sibling = await startHttpsProxy(host.origin)
  onTestFinished(sibling.close)
  await signIn(page)
  await untilBound(page)
  for (const from of [elsewhere(proxy), sibling.origin]) {
    for (const path of ['/me', '/me#part']) {
      await page.goto(from)
      await endProofs(context)
      await page.evaluate((url) => location.assign(url), `${proxy.origin}${path}`)
      await expect.poll(() => page.textContent('body').catch(() => '')).toBe('{"id":2}')
      expect(page.url()).toBe(`${proxy.origin}${path}`)
      await passSeconds(page)
    }
  }
})

it('a page to which another site has led opens after each proof is over, however it is requested again', async () => {
  const { page, proxy, context } = await open(startExpressHost)
  await signIn(page)
  await untilBound(page)
  await page.goto(elsewhere(proxy))
  await page.evaluate((url) => location.assign(url), `${proxy.origin}/me`)
  await page.waitForURL(`${proxy.origin}/me`)
  // The first of these has the site that led here, as in a browser that was offline.
  for (const again of ['reload', 'reload', 'script', 'reload']) {
    await endProofs(context)
    const before = proxy.log.length
    if (again === 'reload') await page.reload()
    else await page.evaluate(() => location.reload())
    await expect.poll(() => page.textContent('body').catch(() => '')).toBe('{"id":2}')
    expect(proxy.log.slice(before).filter(([, path]) => path === '/me').length).toBeLessThanOrEqual(2)
    await passSeconds(page)
  }
})

it('a browser without the key, for which a reload still belongs to the other site, requests a page twice', async () => {
  const asFirefox = (limiter: Sessmgr): Middleware => {
    const serve = bound(limiter)
    return (request, response, next) => {
      if (request.url === '/me') request.headers['sec-fetch-site'] = 'cross-site'
      serve(request, response, next)
    }
  }
  const { host, page, proxy, context } = await open(startExpressHost, { bound: asFirefox })
  const owner = host.browser()
  await new DeviceKey().register(owner, await owner.login('alice'))
  const { value = '' } = owner.cookies.get('connect.sid') ?? {}
  await context.addCookies([{ name: 'connect.sid', value, url: proxy.origin }])
  await page.goto(`${proxy.origin}/me`)
  await page.getByRole('heading', { name: /open its address in a new tab/ }).waitFor()
  expect(proxy.log.filter(([, path]) => path === '/me')).toHaveLength(2)
})

it.each([
  ['opens a slow page', '/me'],
  ['downloads a file', '/file'],
])('a link of another site that %s shows a sentence, only after a while', async (_, path) => {
  const further: NonNullable<Parameters<typeof startExpressHost>[0]>['further'] = ({ app }) =>
    app.get('/file', (_request, response) => void response.attachment('file.txt').send('content'))
  const { page, proxy, context } = await open((setup) => startExpressHost({ ...setup, further }))
  await signIn(page)
  await untilBound(page)
  const opened = context.waitForEvent('page')
  // While its page is loaded, only another page can look into a window.
  await page.evaluate((url) => Object.assign(window, { opened: window.open(url) }), elsewhere(proxy))
  const popup = await opened
  onTestFinished(() => popup.close())
  await popup.waitForLoadState()
  await endProofs(context)
  const answering = deferred()
  let times = 0
  proxy.hold = (asked) => (asked === '/me' && times++ > 0 ? answering.promise : undefined)
  await popup.evaluate((url) => location.assign(url), `${proxy.origin}${path}`)
  const shown = () =>
    page.evaluate(() => {
      const { document, getComputedStyle } = (window as unknown as { opened: typeof window }).opened
      const main = document.querySelector('main') ?? document.body
      return getComputedStyle(main).visibility === 'hidden' ? 'nothing' : main.textContent
    })
  await expect.poll(() => shown().catch(() => '')).toBe('nothing')
  await expect.poll(shown).toMatch(/^If this page stays, open its address in a new tab\.Another site led here.*\.$/)
  answering.resolve()
  if (path === '/me') await expect.poll(shown).toBe('{"id":2}')
  else expect(proxy.log.filter(([, asked]) => asked === path).map(([, , status]) => status)).toEqual([401, 200])
})

it('a window in a sandbox, which belongs to no site, does not request a page again, and says what to do', async () => {
  const { page, proxy, context } = await open(startExpressHost)
  await signIn(page)
  await untilBound(page)
  await page.goto(elsewhere(proxy))
  await endProofs(context)
  const before = proxy.log.length
  const opened = context.waitForEvent('page')
  await page.evaluate((url) => {
    const frame = document.createElement('iframe')
    frame.sandbox.add('allow-scripts', 'allow-popups')
    frame.srcdoc = `<a target="_blank" rel="opener" href="${url}">link</a>`
    document.body.append(frame)
  }, `${proxy.origin}/me`)
  await page.frameLocator('iframe').getByRole('link').click()
  const popup = await opened
  await popup.getByRole('heading', { name: /open its address in a new tab/ }).waitFor()
  expect(await popup.getByRole('button').count()).toBe(0)
  await popup.waitForTimeout(500)
  expect(proxy.log.slice(before).filter(([, path]) => path === '/me').length).toBe(1)
})

it('a script on another host of the site gets a proof as well, if the application names that host', async () => {
  const named = (limiter: Sessmgr) =>
    bindingSessions(coreOf(limiter), { ...parts, initiators: ['localhost', '127.0.0.1'] })
  const { host, page, proxy, context } = await open(startExpressHost, { bound: named })
  const sibling = await startHttpsProxy(host.origin)
  onTestFinished(sibling.close)
  await signIn(page)
  await untilBound(page)
  for (const [from, status] of [
    [elsewhere(proxy), 401],
    [sibling.origin, 200],
  ] as const) {
    await page.goto(from)
    await endProofs(context)
    await page.evaluate(
      (url) => fetch(url, { mode: 'no-cors', credentials: 'include' }).then(({ type }) => type),
      `${proxy.origin}/me`,
    )
    expect(
      proxy.log.findLast(([, path]) => path === '/me'),
      from,
    ).toEqual(['GET', '/me', status])
  }
  await page.goto(proxy.origin)
  expect(await isBound(page), 'hosts of other sites are of no use, and do no harm').toBe(true)
})

it('a restart of the server, and one that it does not answer for a while, sign nobody out', async () => {
  const sessions = new JsonSessions()
  const store = (await import('../../../src/index.ts')).memoryStore()
  const setup = { sessions, sessmgr: { store } }
  const { proxy, page } = await open(startExpressHost, setup)
  await signIn(page)
  await untilBound(page)
  proxy.leadTo(undefined)
  await page.waitForTimeout(over)
  expect(await get(page)).toBe(502)
  const second = await startExpressHost({ bound, ...setup })
  proxy.leadTo(second.origin)
  await expect.poll(() => get(page), { timeout: 60_000 }).toBe(200)
  expect(await isBound(page)).toBe(true)
})

it('a copy that answers a challenge with a key of its own ends the session in the browser as well', async () => {
  const { host, page, context } = await open(startExpressHost)
  await signIn(page)
  await untilBound(page)
  const thief = await thiefOf(context, host)
  const key = new DeviceKey()
  const [session] = await host.limiter.sessions.list(2)
  key.instructions = { session_identifier: session?.bound ?? '', refresh_url: '/session/refresh', credentials: [] }
  await key.refresh(thief)
  await page.waitForTimeout(over)
  expect([await get(page), await thief.me()]).toEqual([401, 401])
  expect(await page.evaluate(async () => (await fetch('/state')).text())).toContain('stolen')
})
