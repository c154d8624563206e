import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PasswordChange } from '../auth/application-passwords.ts'
import type { Erasures } from '../auth/erasures.ts'
import { inBatches, withDeadline } from '../ground/deadline.ts'
import { errorText, type SessmgrError } from '../ground/errors.ts'
import { type Logger, logError, safeLogger, warn, warnOnce } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import { fireAtOnce } from '../hooks/bus.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { LimitReport, LoginRefusal, SessionActions, SessionStart } from '../hooks/session-hooks.ts'
import type { ChangedByWhom, OptionChange } from '../options/option-change.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord, StoredSession, Token } from '../sessions/session-record.ts'
import type { HostSessions, SiteLogout } from '../sessions/session-registry.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimitAction } from '../strategies/limit-strategy.ts'
import { publishActions } from './channels.ts'
import type { Directory, DirectoryParts, SessionsBefore } from './directory.ts'
import { type EndKind, encodeEnds } from './ending/end-signal.ts'
import type { EndedNotes, EndedSession } from './ending/ended-notes.ts'

/** An action with its parameters. */
export type AnnouncedAction =
  | LimitAction
  | ActionCall<'sessmgr_destroy_session' | 'sessmgr_session_invalidated' | 'sessmgr_logout_all_users'>
  | ActionCall<'sessmgr_login_refused' | 'sessmgr_would_limit'>
  | ActionCall<'sessmgr_session_started' | 'sessmgr_session_ended' | 'sessmgr_new_device' | 'sessmgr_user_erased'>

type ActionCall<Names extends keyof SessionActions> = {
  [K in Names]: readonly [name: K, ...parameters: SessionActions[K]]
}[Names]

/** The client of a refused login. */
export interface RefusedClient {
  readonly userId: UserId
  readonly ip: string | null
  readonly userAgent: string | null
}

/** An erasure, without the id of the erased user. */
export interface UserErasure extends ChangedByWhom {
  /** How many sessions ended. */
  readonly sessions: number
}

/** Something that happened, before it becomes an event of the activity log. */
export type Activity =
  | readonly [type: 'session.started', session: SessionRecord, how: SessionStart]
  | readonly [type: 'session.ended', session: SessionRecord, end: SessionEnd]
  | readonly [type: 'login.refused', client: RefusedClient, refusal: LoginRefusal]
  | readonly [type: 'login.would_limit', userId: UserId, report: LimitReport]
  | readonly [type: 'logout.all', epoch: number, end: SessionEnd]
  | readonly [type: 'settings.changed', change: OptionChange]
  | readonly [type: 'application_password.created' | 'application_password.revoked', change: PasswordChange]
  | readonly [type: 'user.erased', erasure: UserErasure]

/** Records activities in the activity log. */
export interface ActivityLog {
  /** Notes an activity. Does not wait and never throws. */
  note(...activity: Activity): void
  /**
   * Waits until everything noted so far is recorded. Undefined if logins do not wait for the record.
   *
   * @param session The session of a login that has no response yet. If the login must be undone, rejects with
   * `store_unavailable`.
   */
  readonly recorded?: ((session?: SessionRecord) => Promise<void>) | undefined
}

/** Called with a session that this process has ended, or without one after a site-wide logout. Must not throw. */
export type EndListener = (session?: SessionRecord, kind?: EndKind) => void

/** A login that the registry has committed. */
export interface AdmittedLogin {
  readonly session: SessionRecord
  readonly how: SessionStart
  /** The sessions that the user had before. */
  readonly before: SessionsBefore
  /** Sessions that the commit ended. */
  readonly ended: readonly EndedSession[]
  /** Old registrations of the new session, for frameworks that keep the session id. */
  readonly renewed: readonly EndedSession[]
  /** The actions of the mode, and one for each stale session that ended. */
  readonly actions: readonly AnnouncedAction[]
}

/**
 * Reports each fact once to a fixed list of outlets, which add-ons cannot remove. The activity log is the only outlet
 * that a login waits for.
 */
export interface Facts {
  /**
   * Reports that a login was admitted. If logins wait for the activity log, waits for the record first.
   *
   * @throws SessmgrError `store_unavailable` if the login must be recorded but cannot be. Its session then counts as
   * never started.
   */
  admitted(login: AdmittedLogin): Promise<void>
  /** Reports that a login was refused. If logins wait for the activity log, waits for the record. */
  refused(client: RefusedClient, refusal: LoginRefusal): Promise<void>
  /**
   * Reports sessions of a user that the store has ended. Stores why they ended, closes their open connections, and
   * deletes them from the session store. Then fires the actions, followed by `sessmgr_session_ended`.
   */
  ended(sessions: readonly EndedSession[], actions: readonly AnnouncedAction[]): Promise<void>
  /** Reports sessions that the framework has ended and deleted. Does not wait. */
  left(sessions: readonly EndedSession[]): void
  /** Reports a site-wide logout. @param kept The user whose session was kept. */
  loggedOut(logout: SiteLogout, end: SessionEnd, kept: UserId | undefined): Promise<void>
  /**
   * Reports anything else, in order, without waiting: to the directory of people, the diagnostics channels, the
   * activity log and the subscribers of hooks.
   *
   * @param activity What the activity log records, if the actions do not contain all of it.
   */
  report(actions: readonly AnnouncedAction[], activity?: Activity): void
  /** Undefined without the `directory` option. */
  readonly directory: Promise<Directory> | undefined
  /**
   * Calls a listener for each session that this process ends, before the ending call resolves. Returns a function that
   * removes the listener.
   */
  listen(listener: EndListener): () => void
  /** Adds work that `settled` waits for. */
  inBackground(work: Promise<void>): void
  /** Waits for everything in the background. */
  settled(): Promise<void>
}

export interface FactsParts {
  readonly store: Pick<SessmgrStore, 'signals' | 'people'>
  readonly hostSessions: HostSessions
  readonly logger: Logger
  readonly deadlineMs: number
  readonly hooks: Hooks
  readonly notes: EndedNotes
  readonly erasures: Erasures
  /** The activity log. @default none */
  readonly log?: ActivityLog | undefined
  /** Whether to keep the store's index of people up to date. @default false */
  readonly wantsDirectory?: boolean | undefined
  readonly countOf: DirectoryParts['countOf']
}

const UNSENT =
  'Other processes could not be notified that sessions have ended, so they close their open connections later.'

/** Creates the facts of a limiter. */
export function createFacts(parts: FactsParts): Facts {
  const { hooks, logger, log, notes } = parts
  const atWork = new Set<Promise<void>>()
  const directory = openDirectory(parts)
  const connections = new EndSender(parts, inBackground)

  function inBackground(work: Promise<void> | undefined): void {
    if (!work) return
    atWork.add(work)
    void work.finally(() => atWork.delete(work))
  }

  const inDirectory = (change: (directory: Directory) => void) => void directory?.then(change).catch(() => {})
  const outlets = [...(directory ? [toDirectory] : []), publishActions, ...(log ? [toLog(log)] : []), toHooks]

  function report(actions: readonly AnnouncedAction[], activity?: Activity): void {
    if (activity) log?.note(...activity)
    for (const tell of outlets) tell(actions)
  }

  function toDirectory(actions: readonly AnnouncedAction[]): void {
    inDirectory((it) => {
      for (const [name, session, how] of actions) {
        if (name === 'sessmgr_session_ended') it.ended(session, how)
        if (name === 'sessmgr_session_started' && how.adopted) it.adopted(session)
      }
    })
  }

  function toHooks(actions: readonly AnnouncedAction[]): void {
    // An add-on's strategy may name an unknown action.
    const failed = (error: SessmgrError) => logError(safeLogger(logger), error)
    for (const [name, ...given] of actions) inBackground(fireAtOnce(hooks, name, given)?.catch(failed))
  }

  async function ended(sessions: readonly EndedSession[], actions: readonly AnnouncedAction[]): Promise<void> {
    // A request that finds a session deleted must also find the note, and so must a client whose connection is closed.
    await notes.remember(sessions)
    connections.close(sessions)
    await discard(parts, sessions)
    report([...actions, ...sessions.map(endedAction)])
  }

  return {
    async admitted({ session, how, before, ended: over, renewed, actions }) {
      inDirectory((it) => it.login(before, session, over))
      const all = [...actions, ...renewed.map(endedAction)]
      if (over.length === 0) report(all)
      else await ended(over, all)
      log?.note('session.started', session, how)
      if (log?.recorded) await log.recorded(session)
      report([['sessmgr_session_started', session, how]])
    },
    async refused(client, refusal) {
      report([['sessmgr_login_refused', client.userId, refusal]], ['login.refused', client, refusal])
      await log?.recorded?.()
    },
    ended,
    left(sessions) {
      connections.close(sessions)
      report(sessions.map(endedAction))
    },
    async loggedOut(logout, end, kept) {
      inDirectory((it) => it.loggedOut(logout, kept))
      await notes.rememberLogout(logout, end)
      connections.closeAll()
      const { epoch } = logout
      report([['sessmgr_logout_all_users', epoch]], ['logout.all', epoch, end])
    },
    report,
    directory,
    listen: (listener) => connections.listen(listener),
    inBackground,
    async settled() {
      // Calls in progress may fire further actions.
      while (atWork.size > 0) await Promise.all(atWork)
    },
  }
}

function toLog(log: ActivityLog): (actions: readonly AnnouncedAction[]) => void {
  return (actions) => {
    for (const [name, one, two] of actions) {
      if (name === 'sessmgr_session_ended') log.note('session.ended', one, two)
      if (name === 'sessmgr_would_limit') log.note('login.would_limit', one, two)
    }
  }
}

function endedAction({ record, end }: EndedSession): AnnouncedAction {
  return ['sessmgr_session_ended', record, end]
}

/** Opens the directory if the option asks for it. Few applications need its code, so it is loaded on demand. */
function openDirectory({ store, wantsDirectory, ...parts }: FactsParts): Promise<Directory> | undefined {
  if (!wantsDirectory) return undefined
  const directory = import('./directory.ts').then((late) => late.createDirectory({ ...parts, index: store.people }))
  // An in-place update may have removed the file.
  directory.catch(() => {})
  return directory
}

/**
 * Deletes ended sessions from the session store. A failure is only logged, because the registry already refuses these
 * sessions.
 */
async function discard({ hostSessions, logger }: FactsParts, sessions: readonly StoredSession[]): Promise<void> {
  const discardOne = async ({ record, sessionId }: StoredSession) => {
    try {
      await hostSessions.destroy(sessionId)
    } catch (reason) {
      const details = { token: record.token, error: errorText(reason, sessionId) }
      const message = 'An ended session could not be deleted from the session store. It is still refused.'
      warn(logger, 'a-store-call-failed', message, details)
    }
  }
  await inBatches(sessions, (batch) => Promise.all(batch.map(discardOne)))
}

/** Notifies listeners and other processes of ended sessions. Sends all ends of one turn of the event loop together. */
class EndSender {
  readonly #parts: FactsParts
  readonly #inBackground: (work: Promise<void>) => void
  readonly #listeners = new Set<EndListener>()
  readonly #unsent = new Map<EndKind, Token[]>()
  #isSiteWide = false
  #isSending = false

  /** @param inBackground Receives the work that closing the limiter waits for. */
  constructor(parts: FactsParts, inBackground: (work: Promise<void>) => void) {
    this.#parts = parts
    this.#inBackground = inBackground
  }

  listen(listener: EndListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Closes the connections of ended sessions, in this process and others. Does not wait. */
  close(ended: readonly EndedSession[]): void {
    for (const { record, end } of ended) {
      for (const listener of this.#listeners) listener(record, end.kind)
      // Every process was already notified of the site-wide logout.
      if (end.kind === 'logout_all') continue
      const tokens = this.#unsent.get(end.kind)
      if (tokens) tokens.push(record.token)
      else if (this.#parts.store.signals) this.#unsent.set(end.kind, [record.token])
    }
    if (this.#unsent.size > 0) this.#send()
  }

  /** Announces a site-wide logout to listeners and other processes. Does not wait. */
  closeAll(): void {
    for (const listener of this.#listeners) listener()
    this.#isSiteWide = true
    this.#send()
  }

  #send(): void {
    const { store, deadlineMs, logger } = this.#parts
    const { signals } = store
    if (!signals || this.#isSending) return
    this.#isSending = true
    const late = () => new Error()
    const sent = nextTurn().then(async () => {
      this.#isSending = false
      const messages = [...this.#unsent].flatMap(([kind, tokens]) => encodeEnds({ kind, tokens }))
      if (this.#isSiteWide) messages.push(...encodeEnds({ kind: 'logout_all', tokens: undefined }))
      this.#unsent.clear()
      this.#isSiteWide = false
      await Promise.all(messages.map((message) => withDeadline(signals.publish(message), deadlineMs, late)))
    })
    this.#inBackground(
      sent.catch(() => {
        // Without open connections, nobody misses the message.
        if (this.#listeners.size > 0) warnOnce(logger, 'open-connections', UNSENT)
      }),
    )
  }
}
