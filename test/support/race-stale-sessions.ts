import { setTimeout as sleep } from 'node:timers/promises'
import { tokenOf } from '../../src/index.ts'
import { type Arena, originOf, seededUser } from './arena.ts'
import { sessionIdOf } from './http-load.ts'
import { inParallel } from './in-parallel.ts'
import { countBy } from './race-logins.ts'

/** What became of sessions that a site-wide logout had made stale, when many requests came for each at once. */
export interface StaleSessions {
  /** How many answers there were of each status. */
  readonly statuses: Readonly<Record<number, number>>
  /** For how many sessions sessmgr_session_invalidated fired how often. */
  readonly fired: Readonly<Record<number, number>>
  /** Firings with anything but a user and the token of one of these sessions. */
  readonly strange: number
}

/** Signs users in, logs everybody out, and sends many requests at once, over all processes, for each stale session. */
export async function raceStaleSessions(
  arena: Arena,
  { from, sessions, requestsEach }: { from: number; sessions: number; requestsEach: number },
): Promise<StaleSessions> {
  const { load, limiter, origins } = arena
  const cookies = await inParallel(sessions, 40, async (n) => {
    const { login, password } = seededUser(from + n)
    return (await load.login(originOf(arena, n), login, password)).cookie ?? ''
  })
  const earlier = new Set(invalidations(arena).map(({ args: [, token] }) => token))
  await limiter.sessions.logoutAllUsers()
  const statuses: number[] = []
  for (const cookie of cookies) {
    const visits = Array.from({ length: requestsEach * origins.length }, (_, n) =>
      load.send(originOf(arena, n), '/me', { cookie }),
    )
    statuses.push(...(await Promise.all(visits)).map(({ status }) => status))
  }
  // Actions are logged as they fire, which may be just after the answer.
  await sleep(200)
  const fired = invalidations(arena).filter(({ args: [, token] }) => !earlier.has(token))
  const expected = new Map(cookies.map((cookie, n) => [tokenOf(sessionIdOf(cookie)), seededUser(from + n).id]))
  const isStrange = ({ args: [userId, token] }: { args: readonly unknown[] }) => expected.get(String(token)) !== userId
  const times = [...expected.keys()].map((token) => fired.filter(({ args }) => args[1] === token).length)
  return { statuses: countBy(statuses), fired: countBy(times), strange: fired.filter(isStrange).length }
}

function invalidations({ examples }: Arena) {
  return examples.hooks().filter(({ hook }) => hook === 'sessmgr_session_invalidated')
}
