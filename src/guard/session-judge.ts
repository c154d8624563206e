import type { UserId } from '../ground/user-id.ts'
import type { SessionVerdict } from '../limiter/check-session.ts'
import type { SessionLimiter } from '../limiter/session-limiter.ts'
import { type Token, tokenOf } from '../sessions/token.ts'
import type { HostSessionData } from './host-types.ts'
import { readMarker } from './marker/session-marker.ts'
import type { SessionMarks } from './marker/session-marks.ts'
import { sessionTtl } from './session-ttl.ts'

/** Whose a session is, and what it is worth. */
export interface Judgement {
  readonly userId: UserId
  readonly verdict: SessionVerdict
}

/** Finds out whose a session is by its data, and asks the limiter about it. */
export class SessionJudge {
  readonly #marks: SessionMarks
  readonly #limiter: SessionLimiter
  readonly #sessionUser: (data: HostSessionData) => UserId | undefined

  constructor(
    marks: SessionMarks,
    limiter: SessionLimiter,
    sessionUser: (data: HostSessionData) => UserId | undefined,
  ) {
    this.#marks = marks
    this.#limiter = limiter
    this.#sessionUser = sessionUser
  }

  /** Loads what markers are signed with, where a session may have one or get one. */
  async prepare(data: HostSessionData, token: Token): Promise<void> {
    if (readMarker(data, token) || this.#sessionUser(data) !== undefined) await this.#marks.ready()
  }

  /** Judges a session; undefined when nobody is signed in with it. `early`: what the limiter was asked already. */
  async judge(
    sessionId: string,
    data: HostSessionData,
    early?: Promise<SessionVerdict>,
  ): Promise<Judgement | undefined> {
    const token = tokenOf(sessionId)
    await this.prepare(data, token)
    // Another process may have learned before this one that the registry is another.
    if (readMarker(data, token) && !this.#marks.read(data, token)) await this.#marks.hasChanged()
    const marker = this.#marks.read(data, token)
    if (!marker) return this.#adopt(sessionId, data)
    const verdict = await (early ?? this.#limiter.check(marker.userId, token))
    const isEnded = !verdict.live && verdict.reason === 'ended'
    // A registry that was uninstalled knows nothing of the session's end: nobody is signed out for that.
    if (isEnded && (await this.#marks.hasChanged())) return this.#adopt(sessionId, data)
    return { userId: marker.userId, verdict }
  }

  /** Takes over a session that this registry does not know. */
  async #adopt(sessionId: string, data: HostSessionData): Promise<Judgement | undefined> {
    const userId = this.#sessionUser(data)
    if (userId === undefined) return undefined
    const session = { sessionId, ttlMs: sessionTtl(data), ip: null, userAgent: null }
    return { userId, verdict: await this.#limiter.adopt(userId, session) }
  }
}
