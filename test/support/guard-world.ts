import { SiteSecrets } from '../../src/auth/site-secrets.ts'
import type { HostSessionData, HostStore } from '../../src/door/host-types.ts'
import type { LoginUnderWay, Visit } from '../../src/door/request/visit.ts'
import { SessionGuard } from '../../src/door/session-guard.ts'
import type { LoginSession } from '../../src/door/sessions/known-sessions.ts'
import { storeCalls } from '../../src/door/stores/store-calls.ts'
import type { UserId } from '../../src/ground/user-id.ts'
import type { CodeSettings } from '../../src/options/setting-rules.ts'
import { type SessionRecord, tokenOf } from '../../src/sessions/session-record.ts'
import { memoryStore } from '../../src/stores/memory-store.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { createLimiterWorld } from './limiter-world.ts'
import { TestStore } from './test-store.ts'
import { TestVisit } from './test-visit.ts'

const LIFE_MS = 60_000

/** Returns session data whose cookie expires in a minute, as express-session passes it. */
export function sessionData(fields: HostSessionData = {}, lifeMs = LIFE_MS): HostSessionData {
  return { cookie: { originalMaxAge: lifeMs, expires: new Date(Date.now() + lifeMs) }, ...fields }
}

/** Returns a request with the properties that the guard reads. */
export const visitorRequest = (fields: object = { sessmgr: {} }) => new TestVisit({ headers: {}, ...fields })

/** Records that a request was loaded with a login session, as its framework does. */
export function noteOrigin(
  { options }: SessionGuard,
  visit: Visit,
  data: HostSessionData,
  { userId, token }: LoginSession,
): void {
  visit.noteOrigin(userId, token, options.sessionUser(data) !== undefined)
}

/** Runs what a host does while a request performs a login. */
export async function whileLoggingIn(visit: Visit, login: LoginUnderWay, run: () => Promise<void>): Promise<void> {
  visit.login = login
  await run().finally(() => {
    visit.login = undefined
  })
}

/** Creates a guard with a real session store and limiter: one process, which may share its stores with others. */
export function createGuardWorld({
  settings = { maximum: 3 } as CodeSettings,
  touchEveryMs = 60_000,
  clock = fakeClock(),
  memory = memoryStore({ clock }),
  store = new TestStore(),
} = {}) {
  const calls = storeCalls(store as unknown as HostStore, 1000)
  const hostSessions = {
    exists: async (sessionId: string) => (await calls.get(sessionId)) !== undefined,
    destroy: calls.destroy,
  }
  const { limiter, fired, logged } = createLimiterWorld({ settings, store: memory, ...{ hostSessions } })
  const warn = (...entry: unknown[]) => void logged.push(entry)
  const guard = new SessionGuard(store, calls, limiter, {
    sessionUser: (data) => data.user as UserId | undefined,
    touchEveryMs,
    deadlineMs: 1000,
    sessionCacheSize: 20_000,
    store: memory,
    siteSecrets: new SiteSecrets(memory.options, []),
    logger: { warn, error: warn },
  })

  return {
    guard,
    limiter,
    store,
    memory,
    clock,
    fired,
    logged,
    calls,
    /** Another process on the same stores. */
    twin: () => createGuardWorld({ settings, touchEveryMs, clock, memory, store }),
    /** Signs a user in under this session id; `fields` are what the application keeps in the session. */
    async signIn(
      sessionId: string,
      userId: UserId,
      fields: HostSessionData = { user: userId },
    ): Promise<HostSessionData> {
      await guard.ready()
      const data = sessionData(fields)
      const admission = await limiter.admit({ userId, ip: null, userAgent: null }, async () => {
        guard.pair(sessionId, data, { userId, token: tokenOf(sessionId) })
        await calls.set(sessionId, data)
        return { sessionId, ttlMs: LIFE_MS, revert: () => calls.destroy(sessionId) }
      })
      if (!admission.admitted) throw new Error(admission.message)
      return data
    },
    /** Ends a session only in the registry, as if another process had not deleted it from the session store yet. */
    endInRegistry: (userId: UserId, sessionId: string) => memory.sessions.end(userId, [tokenOf(sessionId)]),
    /** Returns the registry's records of a user's sessions, oldest first. */
    async records(userId: UserId): Promise<SessionRecord[]> {
      return (await memory.sessions.read(userId)).sessions.map(({ record }) => record)
    },
    /** Raw ids of a user's registered sessions, oldest first. */
    async registered(userId: UserId): Promise<string[]> {
      return (await memory.sessions.read(userId)).sessions.map(({ sessionId }) => sessionId)
    },
  }
}
