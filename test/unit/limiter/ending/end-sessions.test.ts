import { describe, expect, it } from 'vitest'
import { SessmgrError } from '../../../../src/ground/errors.ts'
import { noteEnded } from '../../../../src/sessions/session-end.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
import { createLimiterWorld, type LimiterWorld } from '../../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }

describe('ending all sessions of a user but one', () => {
  it('counts no session that a site-wide logout had ended before, like endAll', async () => {
    const { limiter, login } = createLimiterWorld(wide)
    for (const expected of [1, 2]) {
      for (const _ of [1, 2]) await login(7)
      await limiter.sessions.logoutAllUsers()
      const kept = String(await login(7))
      await login(7)
      const { endOthers, endAll } = limiter.sessions
      expect(await (expected === 1 ? endOthers(7, tokenOf(kept)) : endAll(7))).toBe(expected)
    }
  })

  it('is refused when the one to keep is no live session of the user, and ends nothing then', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const [own, other] = [String(await login(7)), String(await login(8))]
    const message = expect.stringMatching(/Nothing was ended.*request\.sessmgr\.session\.token.*call endAll\(\)/)
    for (const token of [tokenOf(other), tokenOf('unknown'), own, '', undefined, { token: tokenOf(own) }]) {
      const ending = limiter.sessions.endOthers(7, token as string)
      await expect(ending).rejects.toMatchObject({ code: 'invalid_option', message })
    }
    await expect(limiter.sessions.endOthers('nobody', tokenOf(own))).rejects.toMatchObject({ code: 'invalid_option' })
    expect([await live(7), await live(8), fired]).toEqual([[own], [other], []])
  })
})

it('who ends a session must be well described, or nothing ends', async () => {
  const { limiter, login } = createLimiterWorld()
  const token = tokenOf(String(await login(7)))
  const { end, endAll, endOthers, logoutAllUsers, count } = limiter.sessions
  for (const [given, message] of [
    [{ device: 'x'.repeat(65) }, '"device" must be a string of at most 64 characters'],
    [{ note: 'x'.repeat(201) }, '"note" must be a string of at most 200 characters'],
    [{ by: 'root' }, `"by" must be one of user, admin, app; got the string 'root'`],
    [{ actor: { id: 1 } }, 'Expected a user id'],
    [{ note: 1 }, '"note" must be a string'],
    [{ who: 1 }, 'There is no option "who"'],
    ['admin', 'The last argument of a call that ends sessions must be an object'],
  ] as const) {
    const whom = given as never
    const calls = [end(7, token, whom), endAll(7, whom), endOthers(7, token, whom), logoutAllUsers(undefined, whom)]
    for (const call of calls) await expect(call).rejects.toThrow(message)
  }
  expect(await count(7)).toBe(1)
  const longest = { device: 'x'.repeat(64), note: 'y'.repeat(200) }
  await end(7, token, longest)
  expect(await limiter.causeOf(token, 'missing')).toMatchObject(longest)
})

const FAULT = new SessmgrError('store_unavailable', 'No replica has confirmed it.')

/** A world whose store fails to end sessions: before it has ended them, or after. */
function failing(when: 'before' | 'after') {
  const store = memoryStore()
  const { sessions } = store
  const end = sessions.end.bind(sessions)
  const endOthers = sessions.endOthers.bind(sessions)
  const fail = async (ending: () => Promise<readonly never[] | Awaited<ReturnType<typeof endOthers>>>) => {
    throw when === 'before' ? FAULT : noteEnded(new SessmgrError(FAULT.code, FAULT.message), (await ending()) ?? [])
  }
  sessions.end = (...given) => fail(() => end(...given))
  sessions.endOthers = (...given) => fail(() => endOthers(...given))
  return createLimiterWorld({ store, ...wide })
}

type Call = (world: LimiterWorld, tokens: readonly [first: string, last: string]) => Promise<unknown>
const CALLS: readonly [name: string, call: Call, action: string][] = [
  ['end', ({ limiter }, [first]) => limiter.sessions.end(7, first), 'sessmgr_destroy_session'],
  ['endOthers', ({ limiter }, [, last]) => limiter.sessions.endOthers(7, last), 'sessmgr_destroy_session'],
  ['endAll', ({ limiter }) => limiter.sessions.endAll(7), 'sessmgr_destroy_all_sessions'],
]

it('a call to a store that fails tells of the sessions that it has ended, and rejects', async () => {
  for (const [what, call, name] of CALLS) {
    for (const when of ['before', 'after'] as const) {
      const world = failing(when)
      const ids = [String(await world.login(7)), String(await world.login(7))] as const
      const tokens = [tokenOf(ids[0]), tokenOf(ids[1])] as const
      await expect(call(world, tokens)).rejects.toMatchObject({ code: FAULT.code, message: FAULT.message })
      const cause = await world.limiter.causeOf(tokens[0], 'missing')
      const isEnded = when === 'after'
      expect([world.host.ids.has(ids[0]), cause?.kind], `${what}, ${when}`).toEqual([
        !isEnded,
        isEnded ? 'app' : undefined,
      ])
      expect(world.fired.map(([action]) => action)).toEqual(isEnded ? [name] : [])
    }
  }
})

it('sessions have ended even if the number of site-wide logouts cannot be read', async () => {
  const store = memoryStore()
  const { limiter, login } = createLimiterWorld({ store, ...wide })
  await login(7)
  store.epoch.current = () => Promise.reject(FAULT)
  expect([await limiter.sessions.endAll(7), (await store.sessions.read(7)).sessions]).toEqual([1, []])
})
