import type { IncomingMessage } from 'node:http'
import type {
  HostRequest,
  HostSession,
  HostSessionData,
  HostStore,
  RequestState,
  SignedOutReason,
} from '../host-types.ts'
import type { LoginSession } from '../session-guard.ts'
import type { GuardedStore } from '../session-guards.ts'
import { type HostVisit, VISIT } from './host-visit.ts'
import { nodeView } from './node-view.ts'

/** One request to a host that is not Express: what became of its session, and what the parts made for Express see of it. */
export abstract class Visit implements HostVisit {
  readonly raw: IncomingMessage
  readonly store: GuardedStore
  /** Whether the session was written, which notes its use as well. */
  wrote = false
  /** Whether somebody has logged in by this request. */
  loggedIn = false
  /** The login session that the request was loaded with. */
  origin: LoginSession | undefined
  #state: RequestState = {}
  #stateFor: string | undefined
  #view: HostRequest | undefined

  constructor(raw: IncomingMessage, store: GuardedStore) {
    this.raw = raw
    this.store = store
    Object.assign(raw, { [VISIT]: this })
  }

  abstract get session(): HostSession | undefined
  abstract get sessionId(): string | undefined

  /** What the host has for the view. */
  protected abstract get parts(): Record<string, unknown>

  /** Exchanges the session of a request for an empty one, without a word to the store. */
  protected abstract startAfresh(): Promise<void>

  /** Puts the visitor's session back where a login was refused that had exchanged it already. */
  abstract putBack(data: object): Promise<void>

  get state(): RequestState {
    // Whoever has given the session up since is not signed in any more.
    const isGivenUp = !this.session || this.#stateFor !== this.sessionId
    return this.#state.session && isGivenUp ? {} : this.#state
  }

  set state(state: RequestState) {
    this.#state = state
    this.#stateFor = this.sessionId
  }

  get view(): HostRequest {
    this.#view ??= this.#makeView()
    return this.#view
  }

  #makeView(): HostRequest {
    const view = nodeView(this.raw, this.#ownParts())
    const { session, origin } = this
    if (session && origin) this.store.guard.noteOrigin(view, session, origin)
    return view
  }

  #ownParts(): object {
    const visit = this
    return Object.defineProperties(
      {
        get session() {
          return visit.session
        },
        get sessmgr() {
          return visit.state
        },
        set sessmgr(state: RequestState) {
          visit.state = state
          visit.loggedIn = state.session !== undefined
        },
      },
      Object.getOwnPropertyDescriptors(this.parts),
    )
  }

  /** Finds out what became of the session that the request came with. */
  async judge(endedAtLoad?: SignedOutReason): Promise<void> {
    const { session, sessionId = '' } = this
    const { guard } = this.store
    const result = session ? await guard.inspect(sessionId, session) : {}
    if (result.ended) await this.startAfresh()
    const ended = result.ended ?? endedAtLoad
    this.state = result.session ? { session: result.session } : ended ? { ended: { reason: ended } } : {}
    this.noteOrigin(result.session)
    if (result.session && session && !guard.markerOf(sessionId, session)) guard.mark(sessionId, session, result.session)
  }

  /** Notes the login session that the request was loaded with, if it is one. */
  protected noteOrigin(origin: LoginSession | undefined): void {
    this.origin = origin
    if (this.#view && this.session && origin) this.store.guard.noteOrigin(this.#view, this.session, origin)
  }

  /** The session's data with the time at which it expires if nobody writes it. */
  protected get unwritten(): HostSessionData | undefined {
    return this.session
  }

  /** Notes that the login session of this request is in use, unless it was written anyway, or that can wait. */
  noteUse(): Promise<void> | undefined {
    // A login that was not written gets no cookie either: what nobody can use must not hold its slot.
    if (this.wrote || this.loggedIn || !this.state.session) return undefined
    const { unwritten: data, sessionId = '' } = this
    const { guard } = this.store
    return data && !guard.canWait(sessionId, data) ? guard.touch(sessionId, data) : undefined
  }
}

/** Makes what stands for a store on the requests of a host: a login that is refused late puts the session back by it. */
export function storeHandle(): HostStore {
  const createSession = (request: HostRequest, data: object) => visitOf(request)?.putBack(data)
  return { createSession } as unknown as HostStore
}

/** Finds what is known of a request. */
export function visitOf(raw: object): Visit | undefined {
  return (raw as { [VISIT]?: Visit })[VISIT]
}
