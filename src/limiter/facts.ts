import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Erasures } from '../auth/erasures.ts'
import { withDeadline } from '../ground/deadline.ts'
import type { SessmgrError } from '../ground/errors.ts'
import { type Logger, logError, warnOnce } from '../ground/logger.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { SessionStart } from '../hooks/session-hooks.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord, StoredSession } from '../sessions/session-record.ts'
import type { Token } from '../sessions/token.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { Activity, ActivityLog, AnnouncedAction } from './activity-log.ts'
import { publishAction } from './channels.ts'
import type { Directory, DirectoryParts } from './directory/directory.ts'
import { type EndKind, encodeEnds } from './ending/end-signal.ts'

/** Called with a session that this process has ended, or without one after a site-wide logout. Must not throw. */
export type EndListener = (session?: SessionRecord, kind?: EndKind) => void

/**
 * Reports what happens to a fixed list of outlets, each fact once. Add-ons can remove none of
 * them, and only the activity log can make a login wait.
 */
export interface Facts {
  /**
   * Reports what has happened, in order, without waiting: to the directory of people, the diagnostics channels, the
   * activity log and the subscribers of hooks.
   *
   * @param activity What the activity log records, if the actions do not contain all of it.
   */
  report(actions: readonly AnnouncedAction[], activity?: Activity): void
  /**
   * Reports that a session has started, once the activity log has recorded it.
   *
   * @throws SessmgrError `store_unavailable` if it cannot be recorded and must be. The session then never started.
   */
  reportStart(session: SessionRecord, how: SessionStart): Promise<void>
  /** Closes the connections of ended sessions, in this process and others. Does not wait. */
  endConnections(ended: readonly StoredSession[], endOf: (session: SessionRecord) => SessionEnd): void
  /** Closes the connections of all sessions of the site. Does not wait. */
  endAllConnections(): void
  /** Waits until the activity log has recorded everything, if it records before logins are answered. */
  recorded(): Promise<void>
  /** Changes the directory of people, if there is one. Does not wait. */
  inDirectory(change: (directory: Directory) => void): void
  /** Undefined without the option `directory`, or if the store has no index of people. */
  readonly directory: Promise<Directory> | undefined
  /** Calls a listener for each end, before the call that ends the session resolves. Returns how to stop that. */
  listen(listener: EndListener): () => void
  /** Adds work that `settled` waits for. */
  inBackground(work: Promise<void>): void
  /** Waits for everything in the background. */
  settled(): Promise<void>
}

export interface FactsParts {
  readonly store: Pick<SessmgrStore, 'signals' | 'people'>
  readonly logger: Logger
  readonly deadlineMs: number
  readonly hooks: Hooks
  readonly erasures: Erasures
  /** Receives what happens. @default nothing does */
  readonly log?: ActivityLog | undefined
  /** Whether to keep the store's index of people up to date. @default false */
  readonly wantsDirectory?: boolean | undefined
  readonly countOf: DirectoryParts['countOf']
}

const NO_INDEX =
  'The option "directory" has no effect, because the store has no index of people. Remove it, or use memoryStore(), ' +
  'sqliteStore(), postgresStore(), redisStore() or documentStore().'
const UNSENT =
  'Other processes could not be notified that sessions have ended, so they close their open connections later.'

/** Creates the facts of a limiter. */
export function createFacts(parts: FactsParts): Facts {
  const { hooks, logger, log } = parts
  const atWork = new Set<Promise<void>>()
  const directory = openDirectory(parts)
  const ends = new EndSender(parts, inBackground)

  function inBackground(work: Promise<void>): void {
    atWork.add(work)
    void work.finally(() => atWork.delete(work))
  }

  const inDirectory: Facts['inDirectory'] = (change) => void directory?.then(change).catch(() => {})

  function report(actions: readonly AnnouncedAction[], activity?: Activity): void {
    if (activity) log?.note(...activity)
    inDirectory((it) => it.announced(actions))
    for (const action of actions) {
      publishAction(action)
      if (action[0] === 'sessmgr_session_ended') log?.note('session.ended', action[1], action[2])
      else if (action[0] === 'sessmgr_would_limit') log?.note('login.would_limit', action[1], action[2])
      const [name, ...parameters] = action
      const fire = hooks.doAction as (name: string, ...parameters: unknown[]) => Promise<void>
      // A strategy of an add-on may name an unknown action.
      const run = fire(name, ...parameters)
        .catch((error: SessmgrError) => logError(logger, error))
        .catch(() => {})
      inBackground(run)
    }
  }

  return {
    report,
    async reportStart(session, how) {
      log?.note('session.started', session, how)
      if (log?.recorded) await log.recorded(session)
      report([['sessmgr_session_started', session, how]])
    },
    endConnections: (ended, endOf) => ends.report(ended, endOf),
    endAllConnections: () => ends.reportAll(),
    async recorded() {
      await log?.recorded?.()
    },
    inDirectory,
    directory,
    listen: (listener) => ends.listen(listener),
    inBackground,
    async settled() {
      // Calls in progress may fire further actions.
      while (atWork.size > 0) await Promise.all(atWork)
    },
  }
}

/** Opens the directory if the option asks for it. Few applications need its code, so it is loaded on demand. */
function openDirectory({ store, wantsDirectory, ...parts }: FactsParts): Promise<Directory> | undefined {
  const { people: index } = store
  if (wantsDirectory && !index) warnOnce(parts.logger, 'directory-is-incomplete', NO_INDEX)
  if (!wantsDirectory || !index) return undefined
  const directory = import('./directory/directory.ts').then((late) => late.createDirectory({ ...parts, index }))
  // An update in place may have removed the file.
  directory.catch(() => {})
  return directory
}

/** Sends everything that has ended in one turn of the event loop together. */
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

  report(ended: readonly StoredSession[], endOf: (session: SessionRecord) => SessionEnd): void {
    for (const { record } of ended) {
      const { kind } = endOf(record)
      for (const listener of this.#listeners) listener(record, kind)
      if (this.#parts.store.signals) this.#unsent.set(kind, [...(this.#unsent.get(kind) ?? []), record.token])
    }
    if (ended.length > 0) this.#send()
  }

  reportAll(): void {
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
