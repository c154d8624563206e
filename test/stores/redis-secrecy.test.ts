import { expect, onTestFinished, test } from 'vitest'
import { redisStore } from '../../src/redis.ts'
import { connectRedis } from '../support/redis-client.ts'
import { startRedis } from '../support/redis-server.ts'

const SESSION_ID = 'a-raw-session-id'
const SECRET = 'the secret that signs nonces'

test('what Redis repeats of a command that it does not know is in no error', async () => {
  const unknown = ['EVALSHA', 'HGET', 'HSET'].flatMap((name) => ['--rename-command', name, ''])
  const server = await startRedis(['--save', '', '--appendonly', 'no', ...unknown])
  onTestFinished(() => server.stop())
  const client = await connectRedis(server.url)
  onTestFinished(() => client.destroy())
  await expect(client.evalSha('0', { keys: [SESSION_ID], arguments: [] })).rejects.toThrow(SESSION_ID)

  const { sessions, options } = redisStore({ client })
  const admit = { sessionId: SESSION_ID, ttlMs: 60_000, ip: null, userAgent: null, generation: 0 }
  const calls = [
    sessions.commit(2, '0', { admit, end: [] }),
    sessions.adopt(2, admit),
    options.set('sessmgr.secret', SECRET),
    options.get('sessmgr.secret'),
  ]
  for (const failing of await Promise.allSettled(calls)) {
    const { reason } = failing as PromiseRejectedResult
    expect(reason).toMatchObject({ code: 'store_unavailable' })
    const whole = `${reason.stack} ${reason.cause.stack} ${reason.cause.message}`
    expect(whole).toContain('unknown command')
    expect(whole).not.toContain(SESSION_ID)
    expect(whole).not.toContain(SECRET)
  }
})
