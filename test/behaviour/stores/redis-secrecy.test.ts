import { inspect } from 'node:util'
import Redis from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fromIoredis, type RedisClient, redisStore } from '../../../src/redis.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { startRedis } from '../../support/redis-server.ts'

const SESSION_ID = 'a-raw-session-id'
const SECRET = 'the secret that signs nonces'
const UNKNOWN = ['EVALSHA', 'HGET', 'HSET'].flatMap((name) => ['--rename-command', name, ''])

async function startServer(more: readonly string[] = []) {
  const server = await startRedis(['--save', '', '--appendonly', 'no', ...more])
  onTestFinished(() => server.stop())
  return server
}

/** Fails in every call, and looks through all that the errors hold. */
async function expectSecrecy(client: RedisClient, sentence: string) {
  const { sessions, options } = redisStore({ client })
  const admit = { sessionId: SESSION_ID, ttlMs: 60_000, ip: null, userAgent: null, device: null, generation: 0 }
  const calls = [sessions.adopt(2, admit), options.set('sessmgr.secret', SECRET)]
  for (const failing of await Promise.allSettled(calls)) {
    const { reason } = failing as PromiseRejectedResult
    expect(reason).toMatchObject({ code: 'store_unavailable' })
    const whole = inspect(reason, { depth: 10 })
    expect(whole).toContain(sentence)
    expect(whole).not.toContain(SESSION_ID)
    expect(whole).not.toContain(SECRET)
  }
}

describe('an error of the store tells no argument', () => {
  it('that Redis repeats of a command that it does not know', async () => {
    const client = await connectRedis((await startServer(UNKNOWN)).url)
    onTestFinished(() => client.destroy())
    await expect(client.evalSha('0', { keys: [SESSION_ID], arguments: [] })).rejects.toThrow(SESSION_ID)
    await expectSecrecy(client, 'unknown command')
  })

  it('that ioredis attaches', async () => {
    const client = new Redis((await startServer(['--maxmemory', '1'])).port)
    onTestFinished(() => client.disconnect())
    const refused = await client.set('session', SESSION_ID).catch((error: unknown) => error)
    expect(inspect(refused, { depth: 10 })).toContain(SESSION_ID)
    await expectSecrecy(fromIoredis(client), 'OOM')
  })
})
