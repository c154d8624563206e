import { describe, expect, test } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import type { ExpressHost } from '../../support/express-host.ts'
import type { LoginWay } from '../../support/express-logins.ts'
import { loseRace } from '../../support/lose-race.ts'
import { startProcesses } from '../../support/start-processes.ts'

const ways = ['plain', 'callback', 'limiter'] as const

async function twoProcesses(way: LoginWay): Promise<readonly [here: ExpressHost, there: ExpressHost]> {
  const [here, there] = await startProcesses(2, { way, settings: { maximum: 1, logic: 'block' } })
  if (!here || !there) throw new Error('two processes are needed')
  return [here, there]
}

describe.each(ways)('rule 11: a login by %s that loses its slot to another process at the last moment', (way) => {
  test('is refused, and the visitor keeps the anonymous session', async () => {
    const [here, there] = await twoProcesses(way)
    const visitor = here.browser()
    await visitor.post('/cart', { item: 'tea' })
    const [answer, winner] = await loseRace(
      here,
      () => visitor.login('alice'),
      () => there.signedIn('alice'),
    )
    expect([answer.status, answer.setCookies]).toEqual([403, []])
    if (way === 'plain') expect(answer.headers.get('x-user')).toBe('nobody')
    expect([await winner.me(), await visitor.me()]).toEqual([200, 401])
    expect((await visitor.get('/cart')).json()).toEqual(['tea'])
    expect(here.store.ids().toSorted()).toEqual([visitor.sessionId(), winner.sessionId()].toSorted())
    expect(here.actions).toEqual([['sessmgr_login_blocked', 2]])
    expect(await here.limiter.sessions.count(2)).toBe(1)
  })

  test('is refused, and a visitor without a session gets none', async () => {
    const [here, there] = await twoProcesses(way)
    const visitor = here.browser()
    const [{ status }, winner] = await loseRace(
      here,
      () => visitor.login('alice'),
      () => there.signedIn('alice'),
    )
    expect(status).toBe(403)
    expect(visitor.cookies.size).toBe(0)
    expect(here.store.ids()).toEqual([winner.sessionId()])
  })

  test('is refused, and who is signed in as another user stays so', async () => {
    const [here, there] = await twoProcesses(way)
    const bob = await here.signedIn('bob')
    const [{ status }] = await loseRace(
      here,
      () => bob.login('alice'),
      () => there.signedIn('alice'),
    )
    expect(status).toBe(403)
    expect((await bob.get('/me')).json()).toEqual({ id: 3 })
    expect(await here.limiter.sessions.count(3)).toBe(1)
    expect((await there.browser().login('bob')).status).toBe(403)
  })
})

describe.each(ways)('rule 7: a re-login by %s whose new session is long in being written', (way) => {
  async function slowReLogin() {
    const [here, there] = await twoProcesses(way)
    const laptop = await here.signedIn('alice')
    const gate = here.store.holdNextWrite()
    const renewing = laptop.login('alice')
    await gate.arrived
    return { here, there, laptop, renewing, finish: () => gate.open() }
  }

  test('keeps its slot meanwhile, and succeeds', async () => {
    const { here, there, laptop, renewing, finish } = await slowReLogin()
    expect((await there.browser().login('alice')).status).toBe(403)
    expect(await laptop.copy().me()).toBe(200)
    finish()
    expect((await renewing).status).toBe(200)
    expect(await laptop.me()).toBe(200)
    expect(here.store.ids()).toEqual([laptop.sessionId()])
    expect(await here.limiter.sessions.count(2)).toBe(1)
  })

  test('does not undo a logout that comes in between', async () => {
    const { here, there, laptop, renewing, finish } = await slowReLogin()
    const old = laptop.copy()
    await laptop.copy(there.origin).post('/logout')
    const phone = there.browser()
    expect((await phone.login('alice')).status).toBe(200)
    finish()
    expect((await renewing).status).toBe(401)
    expect([await laptop.me(), await old.me(), await phone.me()]).toEqual([401, 401, 200])
    expect(here.store.read(old.sessionId())).toBeUndefined()
    expect(await here.limiter.sessions.count(2)).toBe(1)
  })
})

test('a login over an anonymous session that the store cannot delete succeeds, and the operator reads of it', async () => {
  const [here] = await twoProcesses('plain')
  const visitor = here.browser()
  await visitor.post('/cart', { item: 'tea' })
  const anonymous = visitor.sessionId() ?? ''
  here.store.undeletable.add(anonymous)
  expect((await visitor.login('alice')).status).toBe(200)
  expect(await visitor.me()).toBe(200)
  expect(here.logs).toEqual([
    [
      'The session that somebody left by logging in could not be ended; it expires by itself.',
      {
        token: tokenOf(anonymous),
        error: 'The session store could not be used. Try again shortly. The store does not destroy.',
      },
    ],
  ])
})
