import type { UserId } from '../../src/ground/user-id.ts'
import { askUser, type ChoicePage } from '../../src/guard/ask-user.ts'
import type { GuardedRequest, HostLogin, HostSession, HostSessionData } from '../../src/guard/host-types.ts'
import { type Ask, createLimitLogin } from '../../src/guard/limit-login.ts'
import type { HostedStore } from '../../src/guard/session-exchange.ts'
import { PendingLogins } from '../../src/limiter/pending-logins.ts'
import { readerTexts } from '../../src/texts/texts-for.ts'
import { createGuardWorld, sessionData } from './guard-world.ts'

/** Returns a request that came with session `before`, from a client at 192.0.2.1. */
export function clientRequest(session?: HostSessionData, fields: object = {}): GuardedRequest {
  const headers = { 'user-agent': 'curl/8' }
  const socket = { remoteAddress: '192.0.2.1' }
  return { session, sessionID: 'before', sessmgr: {}, headers, socket, ...fields } as unknown as GuardedRequest
}

/**
 * Creates a host without a framework, with a real guard. A login puts a session with a new id on the request. With
 * `page`, users choose there.
 */
export function createLoginHost(options: Parameters<typeof createGuardWorld>[0] = {}, page?: ChoicePage) {
  const world = createGuardWorld(options)
  const pending = new PendingLogins(world.memory)
  const ask: Ask | undefined =
    page && askUser.bind(undefined, { pending, page, textsFor: () => readerTexts({}) } as never)
  /** Sessions that were prepared to be given up by their request. */
  const attended: unknown[] = []
  const store: HostedStore = {
    guard: world.guard,
    async exchange() {},
    async putBack(request, sessionId, data) {
      Object.assign(request, { sessionID: sessionId, session: data ?? undefined })
    },
    attend: (session) => void attended.push(session),
  }
  const limitLogin = createLimitLogin({
    limiter: world.limiter,
    userIdOf: (user) => {
      if (user === undefined) throw new Error('nobody')
      return user as UserId
    },
    storeOf: () => store,
    asker: () => ask && { ask, hasComplete: true },
    textsOf: (request) => readerTexts({ login_blocked: `Enough for ${request.headers['user-agent']}.` }),
  })

  return {
    ...world,
    hosted: store,
    pending,
    attended,
    /** Logs a user in, as session `sessionId` with these fields. */
    login(
      request: GuardedRequest,
      user?: UserId,
      { sessionId = 'new', fields = { user } as HostSessionData, lifeMs = 60_000, ...more } = {} as {
        sessionId?: string
        fields?: HostSessionData
        lifeMs?: number
      } & Partial<HostLogin>,
    ): Promise<void> {
      const logIn = async () => {
        Object.assign(request, { sessionID: sessionId, session: sessionData(fields, lifeMs) })
        await world.guard.save(sessionId, request.session as HostSession, request)
      }
      return limitLogin({ request, user, logIn, ...more })
    },
  }
}
