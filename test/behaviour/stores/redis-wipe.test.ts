import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

let server: RedisServer
const connect = async () => createClient({ url: server.url }).connect()
let client: Awaited<ReturnType<typeof connect>>

beforeAll(async () => {
  server = await startRedis()
  client = await connect()
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})

describe('wiping a store in Redis', () => {
  it.each(['sessmgr:', 'sess:', 's', 'a*:'])(
    'rule 28: removes what it wrote below %s, and no key of anybody else',
    async (prefix) => {
      await client.flushAll()
      const foreign = ['sess:abcdef', 's:thing', 'sessmgr:other:u:1', 'sessmgr:session', 'a*:b', 'ab:u:1', 'other']
      for (const key of foreign) await client.set(key, 'of somebody else')
      const store = redisStore({ client, prefix })
      const admit = { sessionId: 'x', ttlMs: 60_000, ip: null, userAgent: null, device: null, generation: 0 }
      await store.sessions.adopt('a b}', admit)
      await store.epoch.advance()
      await store.options.set('thing', 1)
      await store.passwords.add(1, { id: 'p', name: 'n', hash: 'ab', createdAt: 1 })
      await store.transients.set('t', 'text', 60_000)
      await store.transients.advance('g')
      expect(await client.dbSize()).toBe(foreign.length + 6)
      await store.wipe()
      expect((await client.keys('*')).sort()).toEqual(foreign.toSorted())
    },
  )

  it('has a deadline, and says in its own words that the server does not answer', async () => {
    const store = redisStore({ client, deadlineMs: 100 })
    server.process.kill('SIGSTOP')
    try {
      await expect(store.wipe()).rejects.toMatchObject({ code: 'store_unavailable' })
    } finally {
      server.process.kill('SIGCONT')
    }
    await vi.waitFor(() => redisStore({ client }).wipe(), { timeout: 30_000 })
  })

  it('says what the server has said where a command is not to be had', async () => {
    await client.sendCommand(['ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-scan'])
    const app = await createClient({ url: server.url.replace('://', '://app:secret@') }).connect()
    try {
      const refusal = { code: 'store_unavailable', cause: { message: expect.stringMatching(/NOPERM .*scan/) } }
      await expect(redisStore({ client: app }).wipe()).rejects.toMatchObject(refusal)
    } finally {
      app.destroy()
    }
  })

  it('has no store without a prefix, which could not tell its keys from others', () => {
    expect(() => redisStore({ client, prefix: '' })).toThrow('"prefix" must be a non-empty string')
  })
})
