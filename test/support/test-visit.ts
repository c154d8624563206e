import type { CookieScope, HostRequest, HostSession, HostSessionData, RequestState } from '../../src/door/host-types.ts'
import { Visit } from '../../src/door/request/visit.ts'

/** A request without a framework. `fields` are the properties that the guard reads from Node's request, or its session. */
export class TestVisit extends Visit {
  readonly raw: HostRequest
  session: HostSession | undefined
  sessionID: string | undefined
  sessmgr: RequestState | undefined
  ip: string | undefined
  /** Sessions that were prepared to be given up by their request. */
  attended: unknown[] = []

  constructor({ session, sessionID, sessmgr, ip, ...raw }: Partial<HostRequest> = {}) {
    super()
    this.raw = raw as HostRequest
    this.session = session
    this.sessionID = sessionID
    this.sessmgr = sessmgr
    this.ip = ip
  }

  override get cookieScope(): CookieScope {
    return (this.raw.cookieScope as CookieScope | undefined) ?? super.cookieScope
  }

  get passportLogin() {
    return this.raw.logIn as Visit['passportLogin']
  }

  async renew(): Promise<void> {}

  async restore(sessionId: string, data: HostSessionData | null): Promise<void> {
    this.sessionID = sessionId
    this.session = (data ?? undefined) as HostSession | undefined
  }

  override attend(session: HostSession): void {
    this.attended.push(session)
  }
}
