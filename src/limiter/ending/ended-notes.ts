import { setTimeout as sleep } from 'node:timers/promises'
import { inBatches, withDeadline } from '../../ground/deadline.ts'
import { messageOf } from '../../ground/errors.ts'
import { type Logger, logFailure } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { EndedCause, EndedKind, SessionEnd, SignedOutReason } from '../../sessions/session-end.ts'
import type { StoredSession, Token } from '../../sessions/session-record.ts'
import type { SiteLogout } from '../../sessions/session-registry.ts'
import type { SessmgrStore } from '../../stores/store.ts'

/** How many notes one call writes: of the user's newest sessions, if it ends more. */
const MOST_NOTES = 100
/** Longest time that a note may delay a login or a response. */
const MOST_MS = 500
/** Pause before a second read, because a request may come after a session has ended but before its note is written. */
const READ_AGAIN_MS = 100
const SITE_WIDE = 'ended:all'
/** How long a process uses what it has read about the last site-wide logout. */
const LOGOUT_KNOWN_MS = 1000

/** Kinds of end without a note, because the user knows why or no one is left to read a note. */
const UNTOLD: readonly SessionEnd['kind'][] = ['replaced', 'signed_out', 'lost']

/** A session that has ended, and how. */
export interface EndedSession extends StoredSession {
  readonly end: SessionEnd
}

/** Remembers why sessions ended, even after they were deleted. Failures here never make logins or requests fail. */
export interface EndedNotes {
  /** Stores why each of these sessions of one user ended. */
  remember(ended: readonly EndedSession[]): Promise<void>
  /** Stores a single note about a site-wide logout, however many sessions there are. */
  rememberLogout(logout: SiteLogout, end: SessionEnd): Promise<void>
  /** Removes a user from the note about the last site-wide logout. The other notes name no user. */
  forget(userId: UserId): Promise<void>
  /**
   * Finds out how a session ended. Resolves to undefined if this is unknown or could not be read in time.
   *
   * @param current The current logout generation, if it was just read.
   */
  endOf(token: Token, reason: SignedOutReason, current?: number): Promise<SessionEnd | undefined>
}

export interface NotesParts {
  readonly store: SessmgrStore
  readonly logger: Logger
  readonly deadlineMs: number
  /** How long a note is kept; 0 means not at all. */
  readonly endedMemoryMs: number
}

type Note = readonly [kind: EndedKind, at: string, device: string | null, note: string | null, ...after: number[]]
type LogoutNote = readonly [generation: number, at: string, note: string | null, actor: UserId | null]

/** Creates the notes about ended sessions in the transient store. */
export function createEndedNotes({ store, logger, deadlineMs, endedMemoryMs }: NotesParts): EndedNotes {
  const { transients, epoch } = store
  const lastLogout = new LogoutSearch()
  const mostMs = Math.min(deadlineMs, MOST_MS)
  const inTime = <T>(work: Promise<T>) =>
    withDeadline(work, mostMs, () => new Error(`The store did not respond within ${mostMs} ms`))

  async function write(work: () => Promise<unknown>): Promise<void> {
    if (endedMemoryMs === 0) return
    try {
      await inTime(work())
    } catch (reason) {
      const message = 'The reason why a session ended could not be stored, so its user will not see it.'
      logFailure(logger, message, { error: messageOf(reason) })
    }
  }

  async function sessionEnd(token: Token): Promise<SessionEnd | undefined> {
    const text = await transients.get(keyOf(token))
    return text === undefined ? undefined : decodeNote(text)
  }

  async function logoutEnd(): Promise<SessionEnd | undefined> {
    const [text, current] = await Promise.all([transients.get(SITE_WIDE), epoch.current()])
    // If the note is about an older logout, it has the wrong time.
    return text === undefined ? undefined : decodeLogout(text, current.generation)
  }

  return {
    async remember(ended) {
      const told = ended.filter(({ end }) => !UNTOLD.includes(end.kind)).slice(-MOST_NOTES)
      if (endedMemoryMs === 0 || told.length === 0) return
      const note = (session: EndedSession) =>
        transients.set(keyOf(session.record.token), encodeNote(session.end), Math.min(endedMemoryMs, lifeLeft(session)))
      await write(() => inBatches(told, (batch) => Promise.all(batch.map(note))))
    },
    rememberLogout: ({ generation, epoch: seconds }, { at: own, note = null, by }) => {
      // The store returns whole seconds. If this machine's clock is in the same second, its milliseconds are exact
      // enough.
      const at = Math.floor(own / 1000) === seconds ? own : seconds * 1000
      const text: LogoutNote = [generation, at.toString(36), note, by?.actor ?? null]
      return write(() => transients.set(SITE_WIDE, JSON.stringify(text), endedMemoryMs))
    },
    async forget(userId) {
      lastLogout.forget()
      const text = await transients.get(SITE_WIDE)
      if (text === undefined) return
      const [generation, at, note, actor] = JSON.parse(text) as LogoutNote
      if (String(actor) !== String(userId)) return
      const without: LogoutNote = [generation, at, note, null]
      await transients.set(SITE_WIDE, JSON.stringify(without), endedMemoryMs)
    },
    async endOf(token, reason, current) {
      if (endedMemoryMs === 0) return undefined
      const read = () => (reason === 'logout_all' ? logoutEnd() : sessionEnd(token))
      const search = async () => {
        const found = await read()
        if (found || reason === 'missing') return found
        await sleep(READ_AGAIN_MS)
        return read()
      }
      return inTime(current === undefined ? search() : lastLogout.of(current, search)).catch(() => undefined)
    },
  }
}

/** Shares the result of looking up the last site-wide logout, because all users may return at once after it. */
class LogoutSearch {
  #end: Promise<SessionEnd | undefined> | undefined
  #generation = 0
  #until = 0

  of(generation: number, search: () => Promise<SessionEnd | undefined>): Promise<SessionEnd | undefined> {
    const now = performance.now()
    if (this.#end && this.#generation === generation && now < this.#until) return this.#end
    this.#generation = generation
    this.#until = now + LOGOUT_KNOWN_MS
    const end = search()
    this.#end = end
    // Do not keep a failure, because the note may be written or readable a moment later.
    const forget = () => this.#end === end && this.forget()
    end.then((found) => found ?? forget(), forget)
    return end
  }

  forget(): void {
    this.#end = undefined
  }
}

/** Returns what signed-out users may know about the end of their session. */
export function causeFrom({ kind, at, by, note, after }: SessionEnd): EndedCause {
  const more = { ...(note !== undefined && { note }), ...(after !== undefined && { after }) }
  return { kind: kind as EndedKind, at, device: by?.device ?? null, ...more }
}

/** 64 bits of the token are enough to find a note. */
const keyOf = (token: Token) => `ended:${token.slice(0, 16)}`

/**
 * Returns the rest of a session's lifetime in milliseconds, but at most its lifetime after a use, because this
 * machine's clock may differ from the one that set the expiry.
 */
function lifeLeft({ lifeEnd, record: { lastSeenAt }, end: { at } }: EndedSession): number {
  const left = lifeEnd - at
  const whole = lifeEnd - lastSeenAt
  return left > 0 && left < whole ? left : whole
}

function encodeNote(end: SessionEnd): string {
  const { kind, at, device, note = null, after } = causeFrom(end)
  const text: Note = [kind, at.toString(36), device, note, ...(after === undefined ? [] : [after])]
  return JSON.stringify(text)
}

function decodeNote(text: string): SessionEnd {
  const [kind, at, device, note, after] = JSON.parse(text) as Note
  const more = { ...(note !== null && { note }), ...(after !== undefined && { after }) }
  return { kind, at: Number.parseInt(at, 36), by: { device, ip: null }, ...more }
}

function decodeLogout(text: string, current: number): SessionEnd | undefined {
  const [generation, at, note, actor] = JSON.parse(text) as LogoutNote
  if (generation < current) return undefined
  return {
    kind: 'logout_all',
    at: Number.parseInt(at, 36),
    ...(actor !== null && { by: { actor, device: null, ip: null } }),
    ...(note !== null && { note }),
  }
}
