import { setTimeout as sleep } from 'node:timers/promises'
import { tokenOf } from '../../src/index.ts'
import { type Arena, originOf, seededUser } from './arena.ts'
import { sessionIdOf } from './http-load.ts'
import { inParallel } from './in-parallel.ts'
import type { LimitSettings } from './whole-settings.ts'

/** What came of many parallel logins of one account. */
export interface LoginRace {
  /** How many answers there were of each status. */
  readonly statuses: Readonly<Record<number, number>>
  /** The most sessions that were seen registered at once, live or not. */
  readonly mostAtOnce: number
  readonly samples: number
  readonly left: number
  /** Sessions that are listed in the end although no login that was answered 200 began them, or that do not work. */
  readonly strange: number
  /** Sessions that are over and still lie in the session store. */
  readonly remains: number
  readonly ms: number
}

/** Logs one account in many times over all processes at once, and looks on all along. */
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

/** How many of these cookies' sessions lie in the session store. */
async function countInSessionStore({ client }: Arena, cookies: readonly string[]): Promise<number> {
  const found = await Promise.all(cookies.map((cookie) => client.exists(`sess:${sessionIdOf(cookie)}`)))
  return found.filter((exists) => exists === 1).length
}

/** Logs many users in at once, each several times, and tells how many sessions each holds in the end. */
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

/** Reads the registry every few milliseconds: what is registered there is all that could be live. */
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
