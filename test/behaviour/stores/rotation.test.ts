import { beforeEach, describe, expect, it } from 'vitest'
import { type SessmgrStore, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { idsOf, LONG, login } from '../../contracts/store/store-case.ts'
import { readUser, userKey, writtenUser } from '../../support/redis-rows.ts'
import { useRedis } from '../../support/use-redis.ts'

const LIFE = { graceMs: 30_000, ttlMs: LONG }

const rotate = ({ sessions }: SessmgrStore, presented: number, sessionId = 'a') =>
  sessions.rotate('alice', tokenOf(sessionId), presented, LIFE)

describe('the number of a refresh token in Redis', () => {
  const db = useRedis()
  let store: SessmgrStore
  beforeEach(async () => {
    store = redisStore({ client: db.client })
    await login(store.sessions, 'alice', 'a')
    await login(store.sessions, 'alice', 'other')
    await rotate(store, 0)
  })

  /** The ids of the sessions with a number, as stored. */
  const numbered = async () =>
    (await readUser(db.client, 'alice'))?.s.flatMap(({ i, rest }) => (rest.length === 6 ? [i] : [])) ?? []

  it('is stored from the first rotation on, with its session, which stays as it was', async () => {
    expect(await numbered()).toEqual(['a'])
    expect((await store.sessions.read('alice')).sessions[0]?.record).toMatchObject({ ip: '192.0.2.1' })
  })

  const ends: Record<string, () => Promise<unknown>> = {
    'is ended': () => store.sessions.end('alice', [tokenOf('a')]),
    'is ended with all': () => store.sessions.end('alice'),
    'is ended with others': () => store.sessions.endOthers('alice', tokenOf('other')),
    'is displaced': () => login(store.sessions, 'alice', 'new', LONG, ['a']),
  }
  for (const [how, end] of Object.entries(ends)) {
    it(`is gone with a session that ${how}`, async () => {
      await end()
      expect(await numbered()).toEqual([])
      expect(await idsOf(store.sessions, 'alice')).not.toContain('a')
      await login(store.sessions, 'alice', 'a')
      expect(await rotate(store, 0)).toMatchObject({ outcome: 'rotated', number: 1 })
    })
  }

  it('is kept for every session of a user with the most sessions', async () => {
    const now = Date.now()
    const s = Array.from({ length: 1000 }, (_, index) => ({
      i: `s${index}`,
      a: now + index - 1000,
      l: 0,
      x: LONG,
      rest: [0, 0, 0, 0, 0, [1, now, [[0, now]]]],
    }))
    await db.client.set(userKey('alice'), `filled ${writtenUser({ s })}`)
    await login(store.sessions, 'alice', 'new', LONG, ['s0'])
    expect(await rotate(store, 0, 's500')).toMatchObject({ outcome: 'repeated', number: 1 })
    expect(await idsOf(store.sessions, 'alice')).toHaveLength(1000)
    expect(await numbered()).toHaveLength(999)
  })
})
