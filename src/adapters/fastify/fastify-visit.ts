import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { HostSessionData, HostStore } from '../../door/host-types.ts'
import { goOnWith, judgeSession, lostState } from '../../door/load.ts'
import { AdapterVisit } from '../../door/request/adapter-visit.ts'
import { visitOf } from '../../door/request/visit.ts'
import { hasEnded } from '../../door/save.ts'
import { answerCallback } from '../../door/stores/store-calls.ts'
import type { FastifySession, FastifyStore } from './fastify-store.ts'

/** A request with @fastify/session, and perhaps @fastify/passport. */
export interface FastifySessionRequest {
  readonly raw: IncomingMessage
  readonly ip: string
  readonly cookies?: Readonly<Record<string, string | undefined>>
  /** Has no id if the path of the session cookie does not match the request. */
  session: FastifySession | { readonly sessionId?: undefined; readonly encryptedSessionId?: undefined } | null
  readonly sessionStore: HostStore
  readonly passport?: { readonly userProperty: string }
  logIn?(user: unknown): Promise<void>
  flash?(type: string, message: string): unknown
  [property: string]: unknown
}

type Callback = (error?: unknown) => void

/** A request to a Fastify application. */
export class FastifyVisit extends AdapterVisit {
  readonly store: FastifyStore
  readonly request: FastifySessionRequest
  readonly reply: FastifyReply
  /** Id of the session that the request came with, if it is over. */
  endedId: string | undefined
  /** The loaded session, and the attributes of its cookie when it was loaded. */
  #loaded: FastifySession | undefined
  #attributes = ''
  /** The visitor's session that a login in progress is replacing. */
  #left: FastifySession | undefined

  constructor(store: FastifyStore, request: FastifySessionRequest, reply: FastifyReply) {
    super(store.guard, request.raw, reply.raw)
    this.store = store
    this.request = request
    this.reply = reply
    // Without a cookie, no session was loaded, so this one is new.
    if (Object.keys(request.cookies ?? {}).length === 0) this.begunId = this.sessionID
    this.#attend()
  }

  get session(): FastifySession | undefined {
    const { session } = this.request
    return session?.sessionId === undefined ? undefined : session
  }

  get sessionID(): string {
    return this.request.session?.sessionId ?? ''
  }

  get ip(): string {
    return this.request.ip
  }

  override get own(): object {
    return this.request
  }

  get passportLogin(): ((user: unknown) => Promise<void>) | undefined {
    return this.request.logIn?.bind(this.request)
  }

  /** Applies the check made when the session was loaded. Returns false if the check found no live login session. */
  isJudged(): boolean {
    const { session, store } = this
    const found = session && store.judged(session)
    if (!found) return false
    this.origin ??= found
    goOnWith(store.guard, this, found)
    this.#loaded = session
    this.#attributes = attributesOf(session)
    return true
  }

  isUnchanged(session: object): boolean {
    return session === this.#loaded && !this.#loaded.isModified() && attributesOf(this.#loaded) === this.#attributes
  }

  /** Checks a session that was loaded before the guard was installed. If it is over, replaces it with an empty one. */
  async judge(): Promise<boolean> {
    const { session, guard } = this
    const isOver = await judgeSession(guard, this)
    if (isOver && session) this.#renew(session)
    this.origin ??= this.sessmgr.session
    return isOver
  }

  async renew(): Promise<void> {
    if (this.session) await this.#regenerate(this.session)
  }

  async restore(_sessionId: string, data: HostSessionData | null): Promise<void> {
    if (data && this.#left) this.request.session = this.#left
  }

  /** The methods that replace each session's own. Shared, so that requests do not have to create them. */
  static readonly #methods = hiddenMethods({
    regenerate(this: FastifySession, first?: readonly string[] | Callback, second?: Callback) {
      const [keys, callback] = typeof first === 'function' ? [undefined, first] : [first, second]
      return answerCallback(visitedBy(this).#regenerate(this, keys), callback)
    },
    reload(this: FastifySession, callback?: Callback) {
      return answerCallback(visitedBy(this).#reload(this), callback)
    },
    destroy(this: FastifySession, callback?: Callback) {
      const { request, guard } = visitedBy(this)
      const forget = () => {
        request.session = null
      }
      return answerCallback(guard.destroy(this.sessionId, visitedBy(this)).finally(forget), callback)
    },
  })

  /** Replaces the session's methods, without adding them to its data. */
  #attend(): void {
    const { session } = this
    if (!session) return
    this.standFor(session)
    Object.defineProperties(session, FastifyVisit.#methods)
  }

  /** Loads the session again, and checks it, because it may have ended in the meantime. */
  async #reload(session: FastifySession): Promise<void> {
    const { request, store, sessmgr } = this
    try {
      await Object.getPrototypeOf(session).reload.call(session)
    } catch (error) {
      // @fastify/session has replaced the session with an empty one, so the user would look like an anonymous visitor.
      request.session = session
      throw error
    }
    this.#attend()
    if (this.isJudged()) return
    const isOver = sessmgr.session !== undefined && store.hasEnded(session.sessionId)
    if (isOver && this.session) this.#renew(this.session)
    await this.judge()
    if (isOver) this.sessmgr = { ended: await lostState(this.guard, session.sessionId) }
  }

  async #regenerate(session: FastifySession, keys?: readonly string[]): Promise<void> {
    const { request, store } = this
    const { guard } = store
    if (this.login) {
      // The visitor's session stays in its store and keeps its slot until the login is admitted.
      this.#left = session
      return this.#renew(session, keys)
    }
    // Data of a session that ended in the meantime must not move to a new session.
    const kept = (await hasEnded(guard, this)) ? undefined : keys
    // If a session could not be ended, the browser must keep its cookie so that the user can try again.
    await guard.destroy(session.sessionId, this)
    this.#renew(session, kept)
    try {
      if (this.session) await store.guard.save(this.sessionID, this.session, this)
    } catch (error) {
      request.session = session
      throw error
    }
  }

  /** Replaces the session of the request with an empty one, without calling the store. */
  #renew(session: FastifySession, keys?: readonly string[]): void {
    const destroy = (_id: string, callback?: Callback) => callback?.()
    const set = (_id: string, _data: unknown, callback?: Callback) => callback?.()
    this.store.without({ destroy, set }, () => Object.getPrototypeOf(session).regenerate.call(session, keys))
    this.#attend()
  }

  protected override get unwritten(): HostSessionData | undefined {
    return this.session && unwritten(this.session)
  }
}

function hiddenMethods(methods: Readonly<Record<string, (...given: never[]) => unknown>>): PropertyDescriptorMap {
  const hidden = (value: unknown) => ({ value, configurable: true, writable: true })
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, hidden(method)]))
}

function visitedBy(session: FastifySession): FastifyVisit {
  return visitOf(session) as FastifyVisit
}

function unwritten(session: FastifySession): HostSessionData {
  const { originalExpires, expires } = session.cookie ?? {}
  // When @fastify/session loads a session, it extends the expiry only in memory, not in the store or the browser.
  const cookie = { ...session.cookie, expires: (originalExpires as Date | undefined) ?? expires ?? null }
  return { ...session, cookie }
}

function attributesOf({ cookie = {} }: FastifySession): string {
  const { originalMaxAge, expires, path, domain, secure, sameSite, httpOnly } = cookie
  return [originalMaxAge, Number(expires), path, domain, secure, sameSite, httpOnly].join()
}
