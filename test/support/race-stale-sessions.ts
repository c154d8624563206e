import { setTimeout as sleep } from 'node:timers/promises'
import { tokenOf } from '../../src/index.ts'
import { type Arena, originOf, seededUser } from './arena.ts'
import { sessionIdOf } from './http-load.ts'
import { inParallel } from './in-parallel.ts'
import { countBy } from './race-logins.ts'

const INVALIDATED = 'sessmgr_session_invalidated'

/** What happened to sessions that a site-wide logout had made stale, when many requests arrived for each at once. */
export interface StaleSessions {
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** Number of sessions by how often sessmgr_session_invalidated fired for them. */
  readonly fired: Readonly<Record<number, number>>
  /** Number of actions without a user and the token of one of these sessions. */
  readonly strange: number
}

/** Signs users in, logs everyone out, and sends many requests at once for each stale session, through all processes. */
export async function raceStaleSessions(
  arena: Arena,
  { from, sessions, requestsEach }: { from: number; sessions: number; requestsEach: number },
): Promise<StaleSessions> {
  const { load, limiter, origins } = arena
  const cookies = await inParallel(sessions, 40, async (n) => {
    const { login, password } = seededUser(from + n)
    return (await load.login(originOf(arena, n), login, password)).cookie ?? ''
  })
  const earlier = new Set(arena.actions(INVALIDATED).map(({ args: [, token] }) => token))
  await limiter.sessions.logoutAllUsers()
  const statuses: number[] = []
  for (const cookie of cookies) {
    const visits = Array.from({ length: requestsEach * origins.length }, (_, n) =>
      load.send(originOf(arena, n), '/me', { cookie }),
    )
    statuses.push(...(await Promise.all(visits)).map(({ status }) => status))
  }
  // Actions are logged when they fire, which may be just after the response.
  await sleep(200)
  const fired = arena.actions(INVALIDATED).filter(({ args: [, token] }) => !earlier.has(token))
  const expected = new Map(cookies.map((cookie, n) => [tokenOf(sessionIdOf(cookie)), seededUser(from + n).id]))
  const isStrange = ({ args: [userId, token] }: { args: readonly unknown[] }) => expected.get(String(token)) !== userId
  const times = [...expected.keys()].map((token) => fired.filter(({ args }) => args[1] === token).length)
  return { statuses: countBy(statuses), fired: countBy(times), strange: fired.filter(isStrange).length }
}
