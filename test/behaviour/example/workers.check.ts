import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../examples/express-app/config.ts'
import { ExampleProcess } from '../../support/example-process.ts'
import { type RedisServer, startRedis } from '../../support/redis-server.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

async function signIn(origin: string): Promise<string> {
  const body = new URLSearchParams({ username: 'alice', password: 'alice-password' })
  const answer = await fetch(`${origin}/login`, { method: 'POST', body, redirect: 'manual' })
  expect(answer.status).toBe(302)
  return answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
}

describe('the example on Redis with several processes', () => {
  it('rule 5: signs out the first of three browsers at maximum 2, whichever process answers', async () => {
    const env = { REDIS_URL: server.url, WEB_CONCURRENCY: '2', SESSMGR_MAXIMUM: '2', SESSMGR_LOGIC: 'logout_oldest' }
    const example = await ExampleProcess.start(env)
    try {
      const cookies: string[] = []
      for (let browser = 0; browser < 3; browser++) cookies.push(await signIn(example.origin))
      for (let turn = 0; turn < 6; turn++) {
        const answers = cookies.map((cookie) =>
          fetch(`${example.origin}/me`, { headers: { cookie, connection: 'close' } }),
        )
        expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([401, 200, 200])
      }
    } finally {
      await example.stop()
    }
  })

  it('is refused without Redis, because processes share no memory', () => {
    expect(() => readConfig({ WEB_CONCURRENCY: '2' })).toThrow('WEB_CONCURRENCY above 1 needs REDIS_URL or SESSMGR_DB')
  })
})
