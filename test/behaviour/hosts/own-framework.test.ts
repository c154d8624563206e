import { expect, it } from 'vitest'
import { SessmgrError } from '../../../src/index.ts'
import { Browser } from '../../support/browser.ts'
import { createLimiter } from '../../support/host-under-test.ts'
import { listen } from '../../support/listen.ts'
import { OwnStore, ownFramework } from '../../support/own-framework.ts'

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
