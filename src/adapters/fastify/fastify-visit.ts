import type { FastifyReply } from 'fastify'
import type { HostSessionData, SignedOutReason } from '../../guard/host-types.ts'
import { Visit } from '../../guard/request/visit.ts'
import { answerCallback } from '../../guard/stores/answer-callback.ts'
import type { FastifyStore } from './fastify-store.ts'
import type { FastifySession, FastifySessionRequest } from './fastify-types.ts'
import type { NamedSession } from './ids-in-cookies.ts'

type Callback = (error?: unknown) => void

/** One request to Fastify. */
export class FastifyVisit extends Visit {
  override readonly store: FastifyStore
  readonly request: FastifySessionRequest
  readonly reply: FastifyReply
  /** Name of the cookie by which the request came with a session that is over. */
  deadCookie: string | undefined
  /** The session that was loaded, and its cookie's attributes at that time. */
  #loaded: FastifySession | undefined
  #attributes = ''
  /** The session that a login under way has left. */
  #left: FastifySession | undefined

  constructor(store: FastifyStore, request: FastifySessionRequest, reply: FastifyReply) {
    super(request.raw, store)
    this.store = store
    this.request = request
    this.reply = reply
    this.#attend()
  }

  get session(): FastifySession | undefined {
    const { session } = this.request
    return session?.sessionId === undefined ? undefined : session
  }

  get sessionId(): string | undefined {
    return this.session?.sessionId
  }

  protected get parts(): Record<string, unknown> {
    const visit = this
    const { request, store } = this
    return {
      sessionStore: store.handle,
      ip: request.ip,
      flash: request.flash && ((type: string, message: string) => request.flash?.(type, message)),
      get body() {
        return request.body
      },
      get sessionID(): string {
        return visit.sessionId ?? ''
      },
      // The session knows its id itself.
      set sessionID(_: string) {},
    }
  }

  /** Finds out why the session is over that the cookies name, if one is. */
  endedAmong(sessions: Iterable<NamedSession>): SignedOutReason | undefined {
    for (const { cookie, id } of sessions) {
      const reason = this.store.reasonOf(id)
      if (!reason) continue
      this.deadCookie = cookie
      return reason
    }
    return undefined
  }

  /** Takes over what was found out as the session was loaded; false when it was loaded before there was a guard. */
  isJudged(): boolean {
    const { session, store } = this
    const found = session && store.judged(session)
    if (!found) return false
    this.state = { session: found }
    this.noteOrigin(found)
    this.#loaded = session
    this.#attributes = attributesOf(session)
    return true
  }

  /** Tells whether a session is as the store has it, but for the time at which it expires. */
  isUnchanged(session: object): boolean {
    const loaded = this.#loaded
    return loaded === session && !loaded.isModified() && attributesOf(loaded) === this.#attributes
  }

  protected async startAfresh(): Promise<void> {
    const { session, store } = this
    if (!session) return
    await store.quietly(() => regenerateOf(session).call(session))
    this.#attend()
  }

  async putBack(): Promise<void> {
    if (this.#left) this.request.session = this.#left
  }

  /** Writes the session of a login: the next login must not take it for lost. */
  async saveLogin(): Promise<void> {
    const { session, store, view } = this
    if (session) await store.guard.save(session.sessionId, session, view)
  }

  /** Stands by for the session to be exchanged. What is put on it here is not part of its data. */
  #attend(): void {
    const { session, store } = this
    if (!session) return
    store.visits.set(session, this)
    const regenerate = (first?: readonly string[] | Callback, second?: Callback) => {
      const [keys, callback] = typeof first === 'function' ? [undefined, first] : [first, second]
      return answerCallback(this.#regenerate(session, keys), callback)
    }
    const reload = (callback?: Callback) => answerCallback(this.#reload(session), callback)
    const destroy = (callback?: Callback) =>
      store.givingUp(this.view, () => Object.getPrototypeOf(session).destroy.call(session, callback))
    for (const [name, value] of Object.entries({ regenerate, reload, destroy })) {
      Object.defineProperty(session, name, { value, configurable: true, writable: true })
    }
  }

  /** Takes the session anew from the store, in which it may have been ended meanwhile. */
  async #reload(session: FastifySession): Promise<void> {
    const { request, store, view } = this
    const signedIn = view.sessmgr?.session
    try {
      await Object.getPrototypeOf(session).reload.call(session)
    } catch (error) {
      // In its place is an empty one, which would pass for a visitor's.
      request.session = session
      throw error
    }
    this.#attend()
    if (this.isJudged()) return
    const ended = signedIn && store.reasonOf(session.sessionId)
    if (ended) await this.startAfresh()
    await this.judge(ended)
  }

  async #regenerate(session: FastifySession, keys: readonly string[] | undefined): Promise<void> {
    const { request, store, view } = this
    const regenerate = regenerateOf(session)
    if (store.guard.logins.of(view)) {
      // The session that is left here stays in its store and its slot until the login has been admitted.
      this.#left = session
      await store.quietly(() => regenerate.call(session, keys))
    } else {
      const isOver = await store.guard.hasEnded(view)
      try {
        // What a session held that was ended meanwhile must not live on in another.
        await store.givingUp(view, () => regenerate.call(session, isOver ? undefined : keys))
      } catch (error) {
        // A session that could not be ended is still the browser's, which must keep the cookie to try again.
        request.session = session
        throw error
      }
    }
    this.#attend()
  }

  protected override get unwritten(): HostSessionData | undefined {
    const { session } = this
    if (!session) return undefined
    const { originalExpires, expires } = session.cookie ?? {}
    // @fastify/session puts the time off as it loads a session, though store and browser know nothing of that.
    const cookie = { ...session.cookie, expires: (originalExpires as Date | undefined) ?? expires ?? null }
    return { ...session, cookie }
  }
}

function regenerateOf(session: FastifySession): (keys?: readonly string[]) => Promise<void> {
  return Object.getPrototypeOf(session).regenerate
}

function attributesOf({ cookie = {} }: FastifySession): string {
  const { originalMaxAge, path, domain, secure, sameSite, httpOnly } = cookie
  return [originalMaxAge, path, domain, secure, sameSite, httpOnly].join()
}
