import { expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'
import { LOGIN_WAYS } from '../../support/express-logins.ts'

test.each(LOGIN_WAYS)('ASVS 7.6.2: a login by %s makes a session, and no other request does', async (way) => {
  const host = await startExpressHost({ way, settings: { maximum: 1, logic: 'block' } })
  const visitor = host.browser()
  for (const path of ['/', '/me', '/state']) {
    expect((await visitor.get(path)).setCookies, path).toEqual([])
  }
  expect(host.store.ids()).toEqual([])

  const laptop = host.browser()
  const login = await laptop.login('alice')
  expect(login.setCookies).toHaveLength(1)
  expect(host.store.ids()).toEqual([laptop.sessionId()])

  // Neither a visitor with a cookie of nobody's, nor one that the limit refuses, is given a session of alice's.
  visitor.cookies.set('connect.sid', { value: 's%3Aunknown.c2lnbmF0dXJl', path: '/' })
  await visitor.get('/')
  await host.browser().login('alice')
  expect(await host.limiter.sessions.count(2)).toBe(1)
  expect(host.store.ids()).toEqual([laptop.sessionId()])
})
