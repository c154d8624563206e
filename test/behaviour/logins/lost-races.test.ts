import { describe, expect, test } from 'vitest'
import { FAILURES, helpAt } from '../../../src/ground/help.ts'
import { tokenOf } from '../../../src/index.ts'
import type { ExpressHost } from '../../support/express-host.ts'
import type { LoginWay } from '../../support/express-logins.ts'
import { loseRace } from '../../support/lose-race.ts'
import { startProcesses } from '../../support/start-processes.ts'

const ways = ['callback', 'limiter'] as const

async function twoProcesses(way: LoginWay): Promise<readonly [here: ExpressHost, there: ExpressHost]> {
  const [here, there] = await startProcesses(2, { way, settings: { maximum: 1, logic: 'block' } })
  if (!here || !there) throw new Error('two processes are needed')
  return [here, there]
}

test('rule 11: a login that loses its slot at the last moment leaves nobody on the request that is refused', async () => {
  const [here, there] = await twoProcesses('plain')
  const [answer] = await loseRace(
    here,
    () => here.browser().login('alice'),
    () => there.signedIn('alice'),
  )
  expect([answer.status, answer.setCookies, answer.headers.get('x-user')]).toEqual([403, [], 'nobody'])
})

describe.each(ways)('rule 7: a re-login by %s whose new session is long in being written', (way) => {
  test('does not undo a logout that comes in between', async () => {
    const [here, there] = await twoProcesses(way)
    const laptop = await here.signedIn('alice')
    const gate = here.store.holdNextWrite()
    const renewing = laptop.login('alice')
    await gate.arrived
    const old = laptop.copy()
    await laptop.copy(there.origin).post('/logout')
    const phone = there.browser()
    expect((await phone.login('alice')).status).toBe(200)
    gate.open()
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
  expect(here.logs.filter(([, details]) => details)).toEqual([
    [
      `A visitor's session could not be ended at login. It stays until it expires. See ${helpAt(FAILURES)}`,
      { token: tokenOf(anonymous), error: 'The store does not destroy.' },
    ],
  ])
})
