import { describe, expect, it, onTestFinished } from 'vitest'
import { tokenOf } from '../../../src/index.ts'
import { redisStore } from '../../../src/redis.ts'
import { createLimiterWorld, type LimiterWorld, SimpleHost } from '../../support/limiter-world.ts'
import { EVERY_SESSION, type FiredAction, recordActions } from '../../support/record-actions.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { useRedis } from '../../support/use-redis.ts'

const CHROME = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36'
const LIFE_MS = 3_600_000
const USER = 7

const redis = useRedis()

type Process = LimiterWorld & { events: FiredAction[] }

/** Starts two processes on one Redis, with the same session store. */
async function start(settings: object): Promise<readonly [Process, Process]> {
  const host = new SimpleHost()
  const clients = [await connectRedis(redis.server.url), await connectRedis(redis.server.url)]
  const stores = clients.map((client) => redisStore({ client }))
  const processes = stores.map((store) => {
    const world = createLimiterWorld({ store, host, settings })
    return { ...world, events: recordActions(world.limiter.hooks, EVERY_SESSION) }
  })
  onTestFinished(async () => {
    for (const { limiter } of processes) await limiter.close()
    for (const client of clients) client.destroy()
  })
  return processes as [Process, Process]
}

const tokensIn = (events: readonly FiredAction[], name: string) =>
  events.filter((event) => event[0] === name).map(([, session]) => (session as { token: string }).token)

describe('two processes', () => {
  it.each(['allow', 'logout_oldest'])('know of each other why a login ended a session, %s', async (logic) => {
    const [one, other] = await start({ maximum: 1, logic })
    const first = tokenOf((await one.login(USER, {}, LIFE_MS)) as string)
    const begun = Date.now()
    await one.login(USER, { userAgent: CHROME }, LIFE_MS)
    const cause = await other.limiter.causeOf(first, 'missing')
    expect(cause).toEqual({ kind: 'displaced', at: expect.any(Number), device: 'Chrome on Windows' })
    expect(Math.abs((cause?.at ?? 0) - begun)).toBeLessThan(60_000)
  })

  it('give a browser its own slot back, whichever of them it reaches, and note nothing', async () => {
    const [one, other] = await start({ maximum: 1, logic: 'block' })
    const logIn = ({ login }: Process, device: string) => login(USER, { device: device.repeat(16) }, LIFE_MS)
    const first = tokenOf((await logIn(one, 'a')) as string)
    const logins = Array.from({ length: 20 }, (_, index) => logIn(index % 2 ? one : other, 'a'))
    expect(await Promise.all(logins)).not.toContain(undefined)
    expect(await logIn(one, 'b')).toBeUndefined()
    expect(await one.limiter.sessions.count(USER)).toBe(1)
    expect(await other.limiter.causeOf(first, 'ended')).toBeUndefined()
    const ends = [...one.events, ...other.events].filter(([name]) => name === 'sessmgr_session_ended')
    expect(ends.map(([, , end]) => (end as { kind: string }).kind)).toEqual(ends.map(() => 'replaced'))
    expect(new Set(tokensIn(ends, 'sessmgr_session_ended')).size).toBe(20)
  })

  it('know of each other why a call ended a session', async () => {
    const [one, other] = await start({ maximum: 5, logic: 'block' })
    const tokens: string[] = []
    for (let count = 0; count < 5; count++) tokens.push(tokenOf((await one.login(USER, {}, LIFE_MS)) as string))
    const [byUser = '', byAdmin = '', byApp = '', kept = ''] = tokens
    const { sessions } = one.limiter
    await sessions.end(USER, byUser, { by: 'user', device: 'Safari on iPhone' })
    await sessions.end(USER, byAdmin, { by: 'admin', actor: 1, note: 'Bye.' })
    await sessions.end(USER, byApp)
    await sessions.endOthers(USER, kept, { by: 'user' })
    const epoch = await sessions.logoutAllUsers(undefined, { note: 'Maintenance.' })
    const [at, device] = [expect.any(Number), null]
    const { causeOf } = other.limiter
    expect(await Promise.all(tokens.map((token) => causeOf(token, 'missing')))).toEqual([
      { kind: 'user', at, device: 'Safari on iPhone' },
      { kind: 'admin', at, device, note: 'Bye.' },
      { kind: 'app', at, device },
      undefined,
      { kind: 'user', at, device },
    ])
    const everybody = await causeOf(kept, 'logout_all')
    expect(everybody).toEqual({ kind: 'logout_all', at, device, note: 'Maintenance.' })
    expect(Math.floor((everybody?.at ?? 0) / 1000)).toBe(epoch)
  })

  it('rule 91: announce each end once, whichever of them ends a session', async () => {
    const [one, other] = await start({ maximum: 3, logic: 'logout_oldest' })
    const processes = [one, other]
    const everyOne = (task: (process: Process, index: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: 10 }, (_, index) => task(processes[index % 2] as Process, index)))
    await everyOne(({ login }) => login(USER, {}, LIFE_MS))
    const [token = ''] = (await one.limiter.sessions.list(USER)).map((session) => session.token)
    await everyOne(({ limiter, login }, index) =>
      index < 2
        ? limiter.sessions.end(USER, token)
        : index < 4
          ? limiter.sessions.endAll(USER)
          : login(USER, {}, LIFE_MS),
    )
    const events = [...one.events, ...other.events]
    const started = tokensIn(events, 'sessmgr_session_started')
    const ended = tokensIn(events, 'sessmgr_session_ended')
    const live = (await one.limiter.sessions.list(USER)).map((session) => session.token)
    expect(new Set(started).size).toBe(started.length)
    expect([...ended, ...live].toSorted()).toEqual(started.toSorted())
  })
})

it('rule 92: a note in Redis expires with endedMemory, or with what its session had left', async () => {
  const [{ login, limiter }] = await start({ maximum: 1 })
  const [short, long] = [(await login(USER, {}, 60_000)) as string, (await login(8, {}, 90 * 86_400_000)) as string]
  await limiter.sessions.endAll(USER)
  await limiter.sessions.endAll(8)
  const lifeOf = (id: string) => redis.client.pTTL(`sessmgr:t:ended:${tokenOf(id).slice(0, 16)}`)
  expect(await lifeOf(short)).toBeGreaterThan(1)
  expect(await lifeOf(short)).toBeLessThanOrEqual(60_000)
  expect(await lifeOf(long)).toBeGreaterThan(60_000)
  expect(await lifeOf(long)).toBeLessThanOrEqual(259_200_000)
})
