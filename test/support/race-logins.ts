import { setTimeout as sleep } from 'node:timers/promises'
import { tokenOf } from '../../src/index.ts'
import { type Arena, originOf, seededUser } from './arena.ts'
import { sessionIdOf } from './http-load.ts'
import { inParallel } from './in-parallel.ts'
import type { LimitSettings } from './whole-settings.ts'

/** The result of many parallel logins of one account. */
export interface LoginRace {
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

/** Logs one account in many times at once, through all processes, and watches the registry in the meantime. */
export async function raceLogins(
  arena: Arena,
  { user, logins, settings }: { user: number; logins: number; settings: LimitSettings },
): Promise<LoginRace> {
  const { load, limiter, origins } = arena
  const { id, login, password } = seededUser(user)
  await limiter.settings.update({ ...settings })
  const watch = watchSessions(arena, id)
  const start = performance.now()
  const answers = await inParallel(logins, origins.length * 100, (n) => load.login(originOf(arena, n), login, password))
  const ms = performance.now() - start
  const { mostAtOnce, samples } = await watch.stop()

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

/** Reads the registry every few milliseconds. Only registered sessions can be live. */
function watchSessions({ store }: Arena, userId: number) {
  let running = true
  let mostAtOnce = 0
  let samples = 0
  const watching = (async () => {
    while (running) {
      mostAtOnce = Math.max(mostAtOnce, (await store.sessions.read(userId)).sessions.length)
      samples += 1
      await sleep(1)
    }
  })()
  return {
    async stop() {
      running = false
      await watching
      return { mostAtOnce, samples }
    },
  }
}

export function countBy(values: readonly number[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}
