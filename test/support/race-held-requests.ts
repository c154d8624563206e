import { setTimeout as sleep } from 'node:timers/promises'
import { tokenOf } from '../../src/index.ts'
import { type Arena, originOf, seededUser } from './arena.ts'
import { sessionIdOf } from './http-load.ts'
import { inParallel } from './in-parallel.ts'

const LONGEST_MS = 400

/** The state after requests were held in one process while their sessions ended elsewhere. */
export interface HeldRequests {
  readonly trials: number
  /** Number of requests that were still in progress when their session had ended. */
  readonly underWay: number
  /** Number of sessions that still worked afterwards. */
  readonly revivedInGuard: number
  /** Number of sessions that were in the session store or the registry afterwards. */
  readonly revivedInRedis: number
}

type Way = (arena: Arena, trial: { n: number; cookie: string }) => Promise<unknown>

/** The ways to end a session through another process than the one that holds the request. */
const WAYS_OUT: Record<string, Way> = {
  'a logout': ({ load, origins }, { cookie }) => load.send(origins[1] as string, '/logout', { method: 'POST', cookie }),
  'a login that displaces it': ({ load, origins }, { n }) => {
    const { login, password } = seededUser(n)
    return load.login(origins[1] as string, login, password)
  },
  'an administrator': ({ limiter }, { n }) => limiter.sessions.endAll(seededUser(n).id),
}

/**
 * Runs slow requests, which write to the session at their end, in one process while another ends their sessions, once
 * per user. With `everybody`, one site-wide logout ends all of them.
 */
export async function holdRequests(
  arena: Arena,
  { from, trials, everybody = false }: { from: number; trials: number; everybody?: boolean },
): Promise<HeldRequests> {
  const { load, limiter, origins } = arena
  await limiter.settings.update({ maximum: 1, logic: 'logout_oldest' })
  const ways = Object.values(WAYS_OUT)
  const inFlight = everybody ? trials : 40
  const signIn = async (n: number) => {
    const { login, password } = seededUser(n)
    return (await load.login(origins[0] as string, login, password)).cookie ?? ''
  }
  const early = everybody ? await inParallel(trials, 40, (n) => signIn(from + n)) : []
  let siteLogout: Promise<unknown> | undefined
  const logEverybodyOut = () => {
    siteLogout ??= limiter.sessions.logoutAllUsers()
    return siteLogout
  }

  const results = await inParallel(trials, inFlight, async (trial) => {
    const n = from + trial
    const cookie = early[trial] ?? (await signIn(n))
    const delay = Math.ceil(Math.random() * LONGEST_MS)
    let answered = false
    const form = { text: 'written late' }
    const held = load.send(origins[0] as string, `/note?delay=${delay}`, { method: 'POST', cookie, form }).then(() => {
      answered = true
    })
    // Some sessions end while the request waits, some at about the moment at which it writes.
    await sleep(trial % 2 ? Math.random() * delay : delay + Math.random() * 6)
    if (everybody) await logEverybodyOut()
    else await (ways[trial % ways.length] as Way)(arena, { n, cookie })
    const underWay = !answered
    await held
    return { underWay, ...(await findRevived(arena, n, cookie)) }
  })
  const count = (key: 'underWay' | 'inGuard' | 'inRedis') => results.filter((result) => result[key]).length
  return { trials, underWay: count('underWay'), revivedInGuard: count('inGuard'), revivedInRedis: count('inRedis') }
}

/** Checks whether an ended session works in any process, and whether it is anywhere in Redis afterwards. */
async function findRevived(arena: Arena, n: number, cookie: string) {
  const { load, client, store } = arena
  const visits = await Promise.all(
    arena.origins.map((_, index) => load.send(originOf(arena, index), '/me', { cookie })),
  )
  const sessionId = sessionIdOf(cookie)
  const stored = await client.exists(`sess:${sessionId}`)
  const registered = (await store.sessions.useOf(seededUser(n).id, tokenOf(sessionId)))?.generation
  return { inGuard: visits.some(({ status }) => status !== 401), inRedis: stored !== 0 || registered !== undefined }
}
