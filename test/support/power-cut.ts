import { setTimeout as sleep } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import type { Browser } from './browser.ts'
import type { ExpressHost } from './express-host.ts'
import { inParallel } from './in-parallel.ts'

/** A database server of any kind. */
interface CutServer {
  kill(): Promise<void>
  restart(): Promise<unknown>
}

/** The state after the database was killed and restarted while many sessions were being ended. */
export interface PowerCut {
  /** Number of ends that were confirmed before the server died. */
  readonly confirmed: number
  /** Number of ends that were not confirmed. */
  readonly unconfirmed: number
  /** Number of sessions that still work, or are registered, although their end was confirmed. */
  readonly revived: number
  /** Milliseconds from the first response of the restarted server to the first served request. */
  readonly recoveryMs: number
}

/** Ends the sessions of many users, by an administrator or by logging out, and kills the server in the meantime. */
export async function cutPower(
  host: Pick<ExpressHost, 'limiter' | 'signedIn'>,
  server: CutServer,
  users: number,
): Promise<PowerCut> {
  const browsers = await inParallel(users, 10, (n) => host.signedIn(`user${n}`))
  const staying = await host.signedIn('alice')
  // Used after the logout.
  const copies = browsers.map((browser) => browser.copy())
  const killed = sleep(Math.random() * 40).then(() => server.kill())
  const ends = await inParallel(users, 4, async (n) => {
    try {
      if (n % 2) return await host.limiter.sessions.endAll(1000 + n)
      return (await (browsers[n] as Browser).post('/logout')).status === 204
    } catch {
      return false
    }
  })
  await killed
  await server.restart()
  const start = performance.now()
  await vi.waitFor(async () => expect(await staying.me()).toBe(200), { timeout: 10_000, interval: 10 })
  const recoveryMs = performance.now() - start
  // Requests may be served from what the process remembers, before its next probe of the store.
  await vi.waitFor(() => host.limiter.sessions.count('alice'), { timeout: 10_000, interval: 50 })

  const isConfirmed = (n: number) => Boolean(ends[n])
  const visits = await inParallel(users, 10, (n) => (copies[n] as Browser).me())
  const counts = await inParallel(users, 10, (n) => host.limiter.sessions.count(1000 + n))
  const isBack = (n: number) => visits[n] !== 401 || counts[n] !== 0
  const numbers = Array.from({ length: users }, (_, n) => n)
  return {
    confirmed: numbers.filter(isConfirmed).length,
    unconfirmed: numbers.filter((n) => !isConfirmed(n)).length,
    revived: numbers.filter((n) => isConfirmed(n) && isBack(n)).length,
    recoveryMs: Math.round(recoveryMs),
  }
}
