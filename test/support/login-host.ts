import type { HostRequest, HostSession, HostSessionData } from '../../src/door/host-types.ts'
import { type Ask, createLimitLogin } from '../../src/door/login.ts'
import type { HostLogin } from '../../src/door/request/visit.ts'
import { type AskOptions, askUser } from '../../src/features/pages/choice-page.ts'
import type { UserId } from '../../src/ground/user-id.ts'
import { PendingLogins } from '../../src/limiter/pending-logins.ts'
import { readerTexts } from '../../src/texts/texts-for.ts'
import { createGuardWorld, sessionData } from './guard-world.ts'
import { TestVisit } from './test-visit.ts'

/** Returns a request that came with session `before`, from a client at 192.0.2.1. */
export function clientRequest(session?: HostSessionData, fields: object = {}): TestVisit {
  const headers = { 'user-agent': 'curl/8' }
  const socket = { remoteAddress: '192.0.2.1' }
  const request = { session, sessionID: 'before', sessmgr: {}, headers, socket, ...fields }
  return new TestVisit(request as unknown as HostRequest)
}

/**
 * Creates a host without a framework, with a real guard. A login puts a session with a new id on the request. With
 * `page`, users choose there.
 */
export function createLoginHost(options: Parameters<typeof createGuardWorld>[0] = {}, page?: AskOptions) {
  const world = createGuardWorld(options)
  const pending = new PendingLogins(world.memory)
  const ask: Ask | undefined =
    page && askUser.bind(undefined, { pending, page, textsFor: () => readerTexts({}) } as never)
  const limitLogin = createLimitLogin({
    limiter: world.limiter,
    userIdOf: (user) => {
      if (user === undefined) throw new Error('nobody')
      return user as UserId
    },
    guardOf: () => world.guard,
    asker: () => ask && { ask, hasComplete: true },
    textsOf: ({ raw }) => readerTexts({ login_blocked: `Enough for ${raw.headers['user-agent']}.` }),
  })

  return {
    ...world,
    pending,
    /** Logs a user in, as session `sessionId` with these fields. */
    login(
      visit: TestVisit,
      user?: UserId,
      { sessionId = 'new', fields = { user } as HostSessionData, lifeMs = 60_000, ...more } = {} as {
        sessionId?: string
        fields?: HostSessionData
        lifeMs?: number
      } & Partial<HostLogin>,
    ): Promise<void> {
      const logIn = async () => {
        Object.assign(visit, { sessionID: sessionId, session: sessionData(fields, lifeMs) })
        await world.guard.save(sessionId, visit.session as HostSession, visit)
      }
      return limitLogin({ visit, user, logIn, ...more })
    },
  }
}
