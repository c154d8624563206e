import { describe, expect, it } from 'vitest'
import { type LimitStrategy, memoryStore, type SessmgrStore, tokenOf } from '../../../src/index.ts'
import type { LimiterParts } from '../../../src/limiter/session-limiter.ts'
import { redisStore } from '../../../src/redis.ts'
import { MOST_SESSIONS } from '../../../src/sessions/session-registry.ts'
import { idsOf, newSession } from '../../contracts/store/store-case.ts'
import { createLimiterWorld, type LimiterWorld } from '../../support/limiter-world.ts'
import { userKey, writtenUser } from '../../support/redis-rows.ts'
import { useRedis } from '../../support/use-redis.ts'

const USER = 'busy'
const LONG = 3_600_000

const db = useRedis()

const numbered = (index: number) => `session ${index}`

/** Commits one login and gives the raw ids of the sessions that it ended. */
async function admit({ sessions }: SessmgrStore, sessionId: string): Promise<string[]> {
  const read = await sessions.read(USER)
  const result = await sessions.commit(USER, read, { admit: newSession(sessionId, LONG), end: [] })
  if (!result.committed) throw new Error('the login ran into a conflict')
  return result.ended.map((ended) => ended.sessionId)
}

/** Fills the account, faster than by logins. */
async function fill(): Promise<void> {
  const now = Date.now()
  const s = Array.from({ length: MOST_SESSIONS }, (_, index) => ({
    i: numbered(index),
    a: now - MOST_SESSIONS + index,
    l: 0,
    x: LONG,
    rest: [],
  }))
  await db.client.set(userKey(USER), `filled ${writtenUser({ s })}`)
}

const stores: Record<string, () => SessmgrStore> = {
  memory: () => memoryStore(),
  Redis: () => redisStore({ client: db.client }),
}

/** A mode that admits everybody, and ends nothing. */
const endless: LimitStrategy = {
  id: 'endless',
  label: 'Endless',
  desc: 'Ends nothing.',
  decide: () => ({ admit: true, end: [], actions: [] }),
}

/** A process with a user whose account is full. The session store has lost the first `lost` sessions. */
async function createFullAccount(store: SessmgrStore, settings: LimiterParts['settings'], lost = 0) {
  const world = createLimiterWorld({ store, settings, strategies: [endless] })
  if (store.name === 'redis') await fill()
  for (let index = 0; index < MOST_SESSIONS; index++) {
    if (store.name !== 'redis') await store.sessions.adopt(USER, newSession(numbered(index), LONG))
    if (index >= lost) world.host.ids.add(numbered(index))
  }
  const ends: unknown[][] = []
  world.limiter.hooks.addAction('sessmgr_session_ended', 'test', ({ token }, { kind }) => void ends.push([token, kind]))
  return { ...world, ends }
}

describe.each(Object.entries(stores))('in %s', (_, createStore) => {
  it('a user has a thousand sessions at most: one more ends the oldest, be it a login or taken over', async () => {
    const store = createStore()
    for (let index = 0; index < MOST_SESSIONS; index++) await store.sessions.adopt(USER, newSession(numbered(index)))
    expect(await admit(store, 'a login')).toEqual([numbered(0)])
    expect((await store.sessions.adopt(USER, newSession('taken over')))?.sessionId).toBe('taken over')
    expect(await store.sessions.useOf(USER, tokenOf(numbered(1)))).toBeUndefined()
    expect((await store.sessions.useOf(USER, tokenOf(numbered(2))))?.generation).toBe(0)
    const ids = await idsOf(store.sessions, USER)
    expect(ids).toHaveLength(MOST_SESSIONS)
    expect(ids.slice(-2)).toEqual(['a login', 'taken over'])
    expect(await admit(store, 'a login')).toEqual([])
  })

  const oldest = [tokenOf(numbered(0)), 'displaced']
  const all = Array.from({ length: MOST_SESSIONS }, (_, index) => [tokenOf(numbered(index)), 'displaced'])
  const modes: readonly (readonly [string, unknown[][], string | undefined])[] = [
    ['block', [], 'sessmgr_login_blocked'],
    ['ask', [], 'sessmgr_login_blocked'],
    ['logout_oldest', [oldest], 'sessmgr_destroy_oldest_session'],
    ['logout_idlest', [oldest], undefined],
    ['endless', [oldest], 'sessmgr_destroy_oldest_session'],
    ['allow', all, 'sessmgr_destroy_all_sessions'],
  ]
  it('rule 55: a thousand is the maximum where the setting may have more, in every mode', async () => {
    for (const [logic, ended, action] of modes) {
      await db.client.flushAll()
      const world = await createFullAccount(createStore(), { maximum: 1_000_000, logic })
      const { limiter } = world
      const isRefused = ended.length === 0
      expect(await limiter.settings.maximumOf(USER)).toBe(MOST_SESSIONS)
      const explained = await limiter.explain(USER)
      expect(explained, logic).toMatchObject({ maximum: MOST_SESSIONS, from: 'settings', bypassed: false })
      expect(isRefused ? ['refused', 'asked'] : ['ends'], logic).toContain(explained.nextLogin)
      expect((await world.login(USER)) === undefined, logic).toBe(isRefused)
      expect(world.ends, logic).toEqual(ended)
      if (action)
        expect(
          world.fired.filter(([name]) => name === action),
          logic,
        ).toHaveLength(1)
      expect(await limiter.sessions.count(USER), logic).toBe(logic === 'allow' ? 1 : MOST_SESSIONS)
    }
  })
})

describe('rule 55: nobody gets around the bound', () => {
  const ways: Record<string, (world: LimiterWorld) => unknown> = {
    'an exempt user': ({ limiter }) => limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true),
    'a filter that never reaches the limit': ({ limiter }) =>
      limiter.hooks.addFilter('sessmgr_reached_limit', 'test', () => false),
    'a limit that only reports': ({ limiter }) => limiter.settings.update({ enforce: false }),
  }

  it('neither by a filter, nor where the limit only reports', async () => {
    for (const [name, arrange] of Object.entries(ways)) {
      const world = await createFullAccount(memoryStore(), { maximum: 2, logic: 'block' })
      await arrange(world)
      expect(await world.login(USER), name).toBeUndefined()
      expect((await world.limiter.explain(USER)).nextLogin, name).toBe('refused')
      expect([world.ends, await world.limiter.sessions.count(USER)], name).toEqual([[], MOST_SESSIONS])
      await world.limiter.settings.update({ logic: 'logout_oldest' })
      expect(await world.login(USER), name).toBeDefined()
      expect(world.ends, name).toEqual([[tokenOf(numbered(0)), 'displaced']])
      expect(
        world.fired.filter(([fired]) => fired === 'sessmgr_destroy_oldest_session'),
        name,
      ).toHaveLength(1)
    }
  })

  it('an exempt user with room is admitted, and sessions that the session store has lost leave room', async () => {
    const world = await createFullAccount(memoryStore(), { maximum: 2, logic: 'block' }, 1)
    world.limiter.hooks.addFilter('sessmgr_bypass', 'test', () => true)
    expect(await world.login(USER)).toBeDefined()
    expect(world.ends).toEqual([[tokenOf(numbered(0)), 'lost']])
    expect(await world.login(USER)).toBeUndefined()
    await world.limiter.sessions.end(USER, tokenOf(numbered(5)))
    expect(await world.login(USER)).toBeDefined()
  })

  it('sessions that a site-wide logout ended make room first, and a live one stays, be it the oldest', async () => {
    const world = await createFullAccount(memoryStore(), { maximum: 1_000_000, logic: 'block' })
    const keep = { userId: USER, token: tokenOf(numbered(0)) }
    await world.limiter.sessions.logoutAllUsers(keep)
    expect(await world.login(USER)).toBeDefined()
    expect(world.ends).toEqual([[tokenOf(numbered(1)), 'logout_all']])
    expect(world.fired).toContainEqual(['sessmgr_session_invalidated', USER, tokenOf(numbered(1))])
    expect(await world.limiter.sessions.count(USER)).toBe(2)
  })
})
