import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { tokenOf } from '../../src/index.ts'
import { type Arena, originOf, seededUser } from './arena.ts'
import { sessionIdOf } from './http-load.ts'
import { inParallel } from './in-parallel.ts'
import { highestWhile } from './watch-count.ts'
import type { LimitSettings } from './whole-settings.ts'

/** The result of many parallel logins of one account. */
interface LoginRace {
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** The highest number of sessions that were registered at once, live or not. */
  readonly mostAtOnce: number
  readonly samples: number
  readonly left: number
  /** Number of sessions that are listed at the end, but are from no login with the response 200, or do not work. */
  readonly strange: number
  /** Number of ended sessions that are still in the session store. */
  readonly remains: number
  readonly ms: number
}

/** Expects that a race of logins exceeds no limit, loses no session and leaves nothing behind. */
export function expectExact(race: LoginRace, logins: number, { maximum, logic }: LimitSettings): void {
  const refusals: Readonly<Record<string, number>> = { block: 403, ask: 409 }
  const refusal = refusals[logic]
  expect(race.statuses).toEqual(refusal ? { 200: maximum, [refusal]: logins - maximum } : { 200: logins })
  expect(race.mostAtOnce).toBeLessThanOrEqual(maximum)
  expect(race.left).toBeLessThanOrEqual(maximum)
  // Mode allow starts again with one session whenever the limit is reached.
  expect(race.left).toBeGreaterThanOrEqual(logic === 'allow' ? 1 : maximum)
  expect(race).toMatchObject({ strange: 0, remains: 0 })
}

/** Logs one account in many times at once, through all processes, and watches the registry in the meantime. */
export async function raceLogins(
  arena: Arena,
  { user, logins, settings }: { user: number; logins: number; settings: LimitSettings },
): Promise<LoginRace> {
  const { load, limiter, origins, store } = arena
  const { id, login, password } = seededUser(user)
  await limiter.settings.update({ ...settings })
  const start = performance.now()
  // Only registered sessions can be live.
  const count = async () => (await store.sessions.read(id)).sessions.length
  const logIn = () => inParallel(logins, origins.length * 100, (n) => load.login(originOf(arena, n), login, password))
  const { result: answers, highest: mostAtOnce, samples } = await highestWhile(count, logIn, () => sleep(1))
  const ms = performance.now() - start

  const cookies = new Map(
    answers
      .filter(({ status }) => status === 200)
      .map(({ cookie = '' }) => [tokenOf(sessionIdOf(cookie)), cookie] as const),
  )
  const tokens = (await limiter.sessions.list(id)).map(({ token }) => token)
  const visits = await Promise.all(
    tokens.map((token, n) => load.send(originOf(arena, n), '/me', { cookie: cookies.get(token) })),
  )
  const over = [...cookies].filter(([token]) => !tokens.includes(token)).map(([, cookie]) => cookie)
  return {
    statuses: countBy(answers.map(({ status }) => status)),
    mostAtOnce,
    samples,
    left: tokens.length,
    strange: visits.filter(({ status }) => status !== 200).length,
    remains: await countInSessionStore(arena, over),
    ms: Math.round(ms),
  }
}

/** Counts how many of these cookies' sessions are in the session store. */
async function countInSessionStore({ client }: Arena, cookies: readonly string[]): Promise<number> {
  const found = await Promise.all(cookies.map((cookie) => client.exists(`sess:${sessionIdOf(cookie)}`)))
  return found.filter((exists) => exists === 1).length
}

/** Logs many users in at once, each several times, and returns how many sessions each has at the end. */
export async function raceUsers(
  arena: Arena,
  { from, users, loginsEach, settings }: { from: number; users: number; loginsEach: number; settings: LimitSettings },
): Promise<{ statuses: Readonly<Record<number, number>>; counts: Readonly<Record<number, number>>; ms: number }> {
  const { load, limiter, origins } = arena
  await limiter.settings.update({ ...settings })
  const start = performance.now()
  const answers = await inParallel(users * loginsEach, origins.length * 100, (n) => {
    const { login, password } = seededUser(from + Math.floor(n / loginsEach))
    return load.login(originOf(arena, n), login, password)
  })
  const ms = Math.round(performance.now() - start)
  const counts = await inParallel(users, 50, (n) => limiter.sessions.count(seededUser(from + n).id))
  return { statuses: countBy(answers.map(({ status }) => status)), counts: countBy(counts), ms }
}

export function countBy(values: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}
