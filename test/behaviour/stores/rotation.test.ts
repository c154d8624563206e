import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { type SessmgrStore, tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { fieldName } from '../../../src/stores/redis/registry/session-codec.ts'
import { idsOf, LONG, login } from '../../contracts/store/store-case.ts'
import { useRedis } from '../../support/use-redis.ts'

const KEY = 'sessmgr:{alice}:s'
const LIFE = { graceMs: 30_000, ttlMs: LONG }
const NAME = fieldName(tokenOf('a'))
const FIELD = `r:${NAME}`

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

  it('is a field beside the record, which stays as it was', async () => {
    const hash = await db.client.hGetAll(KEY)
    expect(hash[FIELD]).toMatch(/^1,([0-9a-f]+),0,\1$/)
    expect(Object.keys(hash).filter((field) => field.startsWith('r:'))).toEqual([FIELD])
    expect((await store.sessions.read('alice')).sessions[0]?.record).toMatchObject({ ip: '192.0.2.1' })
  })

  const ends: Record<string, () => Promise<unknown>> = {
    'is ended': () => store.sessions.end('alice', [tokenOf('a')]),
    'is ended with all': () => store.sessions.end('alice'),
    'is ended with others': () => store.sessions.endOthers('alice', tokenOf('other')),
    'is displaced': () => login(store.sessions, 'alice', 'new', LONG, ['a']),
    'is erased': async () => store.sessions.erase('alice', [tokenOf('a')]),
    'is removed after a site-wide logout': async () => {
      const use = await store.sessions.useOf('alice', tokenOf('a'))
      if (use) await store.sessions.removeStale?.('alice', tokenOf('a'), use, true)
    },
  }
  for (const [how, end] of Object.entries(ends)) {
    it(`is gone with a session that ${how}`, async () => {
      await end()
      expect(await db.client.hExists(KEY, FIELD)).toBe(0)
      expect(await idsOf(store.sessions, 'alice')).not.toContain('a')
    })
  }

  it('is gone with a session that has expired, once the set is changed', async () => {
    await store.sessions.touch('alice', tokenOf('a'), 1)
    await sleep(10)
    await login(store.sessions, 'alice', 'new')
    expect(await db.client.hExists(KEY, FIELD)).toBe(0)
  })

  it('starts at the login again if it is damaged', async () => {
    await db.client.hSet(KEY, FIELD, 'damaged')
    expect(await rotate(store, 0)).toMatchObject({ outcome: 'rotated', number: 1 })
  })

  it('is kept for every session of a user with the most sessions', async () => {
    const fields: Record<string, string> = {}
    const now = Date.now()
    for (let index = 0; index < 998; index++) {
      const name = fieldName(tokenOf(`s${index}`))
      fields[name] = `${(now + index).toString(16)},0,ffffff,0ss${index}`
      fields[`i${name}`] = '0,'
      fields[`r:${name}`] = `1,${now.toString(16)},0,${now.toString(16)}`
    }
    await db.client.hSet(KEY, fields)
    await login(store.sessions, 'alice', 'new', LONG, ['other'])
    expect(await rotate(store, 0, 's500')).toMatchObject({ outcome: 'repeated', number: 1 })
    expect(await idsOf(store.sessions, 'alice')).toHaveLength(1000)
  })
})
