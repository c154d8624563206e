import { expect, test } from 'vitest'
import { startExpressHost } from '../../support/express-host.ts'

test('ASVS 7.6.2: a login makes a session, and no other request does', async () => {
  for (const way of ['redirect', 'logIn', 'limiter'] as const) {
    const host = await startExpressHost({ way, settings: { maximum: 1, logic: 'block' } })
    const visitor = host.browser()
    for (const path of ['/', '/me', '/state']) {
      expect((await visitor.get(path)).setCookies, `${way} ${path}`).toEqual([])
    }
    expect(host.store.ids()).toEqual([])

    const laptop = host.browser()
    const login = await laptop.login('alice')
    expect(login.setCookies, way).toHaveLength(1)
    expect(host.store.ids(), way).toEqual([laptop.sessionId()])

    // Neither a visitor with a cookie of nobody's, nor one that the limit refuses, is given a session of alice's.
    visitor.cookies.set('connect.sid', { value: 's%3Aunknown.c2lnbmF0dXJl', path: '/' })
    await visitor.get('/')
    await host.browser().login('alice')
    expect([way, await host.limiter.sessions.count(2)]).toEqual([way, 1])
    expect(host.store.ids(), way).toEqual([laptop.sessionId()])
  }
})
