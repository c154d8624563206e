import express from 'express'
import session from 'express-session'
import { createClient } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { documentStore } from '../../../src/document.ts'
import { type SessmgrStore, sessmgr } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { startRedis } from '../../support/redis-server.ts'
import { serve } from '../../support/serve.ts'
// Written by sessmgr 3.3.0, with sessions of 50 years: "early" was ended by a site-wide logout, and "third" by an
// administrator, "Lost phone"; "live" and "second" are user 2's. The secret of the cookies is "fixture".
import written from './written-by-3.3.json' with { type: 'json' }

type Cookies = Readonly<
  Record<'early' | 'live' | 'second' | 'third', { readonly cookie: string; readonly token: string }>
>
interface Way {
  readonly cookies: Cookies
  readonly password: string
  readonly sessions: Readonly<Record<string, string>>
}

async function inRedis(): Promise<SessmgrStore> {
  const redis = await startRedis()
  const client = await createClient({ url: redis.url }).connect()
  onTestFinished(async () => {
    client.destroy()
    await redis.stop()
  })
  for (const [key, { type, value }] of Object.entries(written.redis.keys)) {
    if (type === 'string') await client.set(key, value as string)
    if (type === 'hash') await client.hSet(key, value as Record<string, string>)
    if (type === 'zset') await client.zAdd(key, value as { value: string; score: number }[])
  }
  return redisStore({ client })
}

async function inRows(): Promise<SessmgrStore> {
  const rows = new MemoryRows()
  for (const [key, revision, text] of written.rows.rows) rows.put(key as string, revision as number, text as string)
  return documentStore(rows.driver())
}

describe.each<[string, Way, () => Promise<SessmgrStore>]>([
  ['Redis', written.redis, inRedis],
  ['rows of a database', written.rows, inRows],
])('what 3.3.0 wrote into %s', (_name, { cookies, password, sessions }, open) => {
  it('is read: sessions, why they ended, the limit, settings and application passwords', async () => {
    const sessionStore = new session.MemoryStore()
    Object.assign(sessionStore, { sessions: { ...sessions } })
    const limiter = sessmgr({
      store: await open(),
      sessionStore,
      sessionUser: (data: { userId?: number }) => data.userId,
      directory: true,
      device: true,
      settings: { maximum: 5, logic: 'logout_oldest' },
    })
    const app = express()
    app.use(session({ store: sessionStore, secret: 'fixture', resave: false, saveUninitialized: false }), limiter)
    app.get('/me', ({ sessmgr: state }, res) => void res.json({ token: state?.session?.token, why: state?.ended }))
    app.get('/login', (req, res) => void limiter.login(req, { id: 2 }).then(() => res.end()))
    const { origin, close } = await serve(app)
    onTestFinished(close)
    const ask = async (path: string, cookie = '') => (await fetch(origin + path, { headers: { cookie } })).text()
    const me = async (name: keyof Cookies) => JSON.parse(await ask('/me', cookies[name].cookie))

    expect(await me('live')).toEqual({ token: cookies.live.token })
    expect(await me('second')).toEqual({ token: cookies.second.token })
    expect(await me('third')).toMatchObject({ why: { cause: { kind: 'admin', note: 'Lost phone' } } })
    expect(await me('early')).toMatchObject({ why: { cause: { kind: 'logout_all' } } })
    const devices = (await limiter.sessions.list(2)).map(({ token, userAgent }) => [
      token,
      /Chrome|Firefox/.exec(`${userAgent}`)?.[0],
    ])
    expect(devices).toEqual([
      [cookies.live.token, 'Chrome'],
      [cookies.second.token, 'Firefox'],
    ])
    expect(await limiter.settings.get()).toMatchObject({ maximum: 4, logic: 'logout_oldest' })
    expect(await limiter.passwords.verify(2, password)).toBe(true)
    expect((await limiter.passwords.list(2)).map(({ name }) => name)).toEqual(['backup'])

    for (let login = 0; login < 3; login++) await ask('/login')
    expect(await limiter.sessions.count(2)).toBe(4)
    expect(await me('live')).toMatchObject({ why: { cause: { kind: 'displaced' } } })
    expect(await me('second')).toEqual({ token: cookies.second.token })
  })
})
