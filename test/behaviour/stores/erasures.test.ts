import { expect, it } from 'vitest'
import { IMPLEMENTATIONS, type OpenStore } from '../../contracts/store/store-case.ts'
import { deferred } from '../../support/deferred.ts'
import { createLimiterWorld, SimpleHost } from '../../support/limiter-world.ts'
import { passingTime } from '../../support/passing-time.ts'

const NOTHING_ELSE = {
  recordedNames: async () => [],
  forgetEvents: async () => 0,
  forgetPasswords: async () => 0,
  forgetInMemory: () => {},
}

function erasing() {
  const { store, pass } = (IMPLEMENTATIONS.rows as () => OpenStore)()
  const host = new SimpleHost()
  const world = createLimiterWorld({ store, host })
  const passHere = passingTime()
  const quiet = () => {
    for (const passAt of [pass, passHere]) passAt(store.sessions.quietMs)
  }
  return { ...world, host, quiet }
}

it('rule 77: right after an erasure, a login gets 503 before anything is changed, and then it is a new user', async () => {
  const { login, limiter, host, quiet } = erasing()
  await login('bob')
  await limiter.erase(NOTHING_ELSE, 'bob')
  await expect(login('bob')).rejects.toMatchObject({ code: 'store_unavailable', status: 503 })
  expect(host.ids.size).toBe(0)
  quiet()
  const next = await login('bob')
  expect([...host.ids]).toEqual([next])
})

it.each([
  ['ends during the quiet time', 0, 'store_unavailable'],
  ['outlasts it', 2, 'session_ended'],
])('rule 77: a login that begins before an erasure and %s is refused', async (_, periods, code) => {
  const { login, live, limiter, host, quiet } = erasing()
  const held = deferred()
  const attempt = { userId: 'bob', ip: null, userAgent: null }
  const late = limiter.admit(attempt, () => held.promise.then(() => host.establish()))
  const refused = expect(late).rejects.toMatchObject({ code })
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  await limiter.erase(NOTHING_ELSE, 'bob')
  for (let period = 0; period < periods; period++) quiet()
  held.resolve()
  await refused
  expect([await live('bob'), host.ids.size]).toEqual([[], 0])
  quiet()
  expect([await login('bob')]).toEqual(await live('bob'))
})
