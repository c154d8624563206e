import { describe, expect, it } from 'vitest'
import { SessmgrError } from '../../../../src/ground/errors.ts'
import { noteEnded } from '../../../../src/sessions/session-end.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../../src/stores/memory-store.ts'
import { createLimiterWorld, type LimiterWorld } from '../../../support/limiter-world.ts'

const wide = { settings: { maximum: 10 } }

describe('ending all sessions of a user but one', () => {
  it('ends them in both stores, counts them, and fires sessmgr_destroy_session for each, oldest first', async () => {
    const { limiter, host, fired, login, live } = createLimiterWorld(wide)
    const [first, kept, last] = [String(await login(7)), String(await login(7)), String(await login(7))]
    const other = String(await login(8))
    expect(await limiter.sessions.endOthers('7', tokenOf(kept))).toBe(2)
    expect([...host.ids]).toEqual([kept, other])
    expect(await live(7)).toEqual([kept])
    expect(fired).toEqual([
      ['sessmgr_destroy_session', 7, tokenOf(first)],
      ['sessmgr_destroy_session', 7, tokenOf(last)],
    ])
  })

  it('counts no session that a site-wide logout had ended before, like endAll', async () => {
    const { limiter, login } = createLimiterWorld(wide)
    for (const expected of [1, 2]) {
      await login(7)
      await login(7)
      await limiter.sessions.logoutAllUsers()
      const kept = String(await login(7))
      await login(7)
      const { endOthers, endAll } = limiter.sessions
      expect(await (expected === 1 ? endOthers(7, tokenOf(kept)) : endAll(7))).toBe(expected)
    }
  })

  it('has ended them even if the number of site-wide logouts cannot be read', async () => {
    const store = memoryStore()
    const { limiter, login } = createLimiterWorld({ store, ...wide })
    await login(7)
    store.epoch.current = () => Promise.reject(FAULT)
    expect([await limiter.sessions.endAll(7), (await store.sessions.read(7)).sessions]).toEqual([1, []])
  })

  it('ends none where there is no other', async () => {
    const { limiter, fired, login } = createLimiterWorld(wide)
    const kept = String(await login(7))
    expect(await limiter.sessions.endOthers(7, tokenOf(kept))).toBe(0)
    expect(fired).toEqual([])
  })

  it('is refused when the one to keep is no live session of the user, and ends nothing then', async () => {
    const { limiter, fired, login, live } = createLimiterWorld(wide)
    const [own, other] = [String(await login(7)), String(await login(8))]
    const strange = [tokenOf(other), tokenOf('unknown'), own, '', undefined, { token: tokenOf(own) }, [tokenOf(own)]]
    for (const token of strange) {
      await expect(limiter.sessions.endOthers(7, token as string)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/Nothing was ended.*request\.sessmgr\.session\.token.*call endAll\(\)/),
      })
    }
    await expect(limiter.sessions.endOthers('nobody', tokenOf(own))).rejects.toMatchObject({ code: 'invalid_option' })
    expect([await live(7), await live(8), fired]).toEqual([[own], [other], []])
  })

  it('is refused for what is no id of a user', async () => {
    const { limiter } = createLimiterWorld(wide)
    const user = { id: 7 } as never
    await expect(limiter.sessions.endOthers(user, tokenOf('a'))).rejects.toMatchObject({ code: 'user_id_missing' })
  })
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
  return createLimiterWorld({ store, settings: { maximum: 9 } })
}

type Call = (world: LimiterWorld, tokens: readonly [first: string, last: string]) => Promise<unknown>
const CALLS: readonly [name: string, call: Call, action: string][] = [
  ['end', ({ limiter }, [first]) => limiter.sessions.end(7, first), 'sessmgr_destroy_session'],
  ['endOthers', ({ limiter }, [, last]) => limiter.sessions.endOthers(7, last), 'sessmgr_destroy_session'],
  ['endAll', ({ limiter }) => limiter.sessions.endAll(7), 'sessmgr_destroy_all_sessions'],
]

async function twoSessions({ login, limiter }: LimiterWorld) {
  const ids = [String(await login(7)), String(await login(7))] as const
  const [first, last] = await limiter.sessions.list(7)
  return { ids, tokens: [String(first?.token), String(last?.token)] as const }
}

describe.each(CALLS)('%s() of a store that fails', (_name, call, action) => {
  it('after it has ended the sessions, deletes them, notes why, fires, and rejects', async () => {
    const world = failing('after')
    const { ids, tokens } = await twoSessions(world)
    await expect(call(world, tokens)).rejects.toMatchObject({ code: FAULT.code, message: FAULT.message })
    expect(world.host.ids).not.toContain(ids[0])
    expect(await world.limiter.causeOf(tokens[0], 'missing')).toMatchObject({ kind: 'app' })
    expect(world.fired.map(([name]) => name)).toEqual([action])
  })

  it('before it has ended any, rejects with its error and does nothing else', async () => {
    const world = failing('before')
    const { ids, tokens } = await twoSessions(world)
    await expect(call(world, tokens)).rejects.toBe(FAULT)
    expect([...world.host.ids]).toEqual(ids)
    expect(await world.limiter.causeOf(tokens[0], 'missing')).toBeUndefined()
    expect(world.fired).toEqual([])
  })
})
