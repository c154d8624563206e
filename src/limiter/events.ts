import type { PasswordChange } from '../auth/application-passwords.ts'
import type { Erasures } from '../auth/erasures.ts'
import { inBatches } from '../ground/deadline.ts'
import { errorText, type SessmgrError } from '../ground/errors.ts'
import { type Logger, logError, logFailure, safeLogger } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import { fireAtOnce } from '../hooks/bus.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { LimitReport, LoginRefusal, SessionActions, SessionStart } from '../hooks/session-hooks.ts'
import type { ChangedByWhom, OptionChange } from '../options/option-change.ts'
import type { SessionEnd } from '../sessions/session-end.ts'
import type { SessionRecord, StoredSession } from '../sessions/session-record.ts'
import type { HostSessions, SiteLogout } from '../sessions/session-registry.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimitAction } from '../strategies/limit-strategy.ts'
import { publishActions } from './channels.ts'
import type { Directory, DirectoryParts, SessionsBefore } from './directory.ts'
import { type EndListener, EndSender } from './ending/end-signal.ts'
import type { EndedNotes, EndedSession } from './ending/ended-notes.ts'

/** An action with its parameters. */
export type AnnouncedAction =
  | LimitAction
  | ActionCall<'sessmgr_destroy_session' | 'sessmgr_session_invalidated' | 'sessmgr_logout_all_users'>
  | ActionCall<'sessmgr_login_refused' | 'sessmgr_would_limit'>
  | ActionCall<
      | 'sessmgr_session_started'
      | 'sessmgr_session_ended'
      | 'sessmgr_session_stolen'
      | 'sessmgr_new_device'
      | 'sessmgr_user_erased'
    >

type ActionCall<Names extends keyof SessionActions> = {
  [K in Names]: readonly [name: K, ...parameters: SessionActions[K]]
}[Names]

/** The client of a refused login. */
interface RefusedClient {
  readonly userId: UserId
  readonly ip: string | null
  readonly userAgent: string | null
}

/** An erasure, without the id of the erased user. */
interface UserErasure extends ChangedByWhom {
  /** How many sessions ended. */
  readonly sessions: number
}

/** Something that has happened. */
export type LimiterEvent =
  | {
      readonly type: 'ended'
      readonly session: EndedSession
      /** Whether the framework has ended and deleted it. */
      readonly isDeleted?: boolean
    }
  | {
      readonly type: 'started'
      readonly session: SessionRecord
      readonly how: SessionStart
      /** The sessions that the user had before. Undefined if the session was adopted. */
      readonly before?: SessionsBefore
    }
  | { readonly type: 'refused'; readonly client: RefusedClient; readonly refusal: LoginRefusal }
  | {
      readonly type: 'logged out'
      readonly logout: SiteLogout
      readonly end: SessionEnd
      /** The user whose session was kept. */
      readonly kept: UserId | undefined
    }
  | { readonly type: 'erased'; readonly userId: UserId; readonly erasure: UserErasure }
  /** Anything that only add-ons, the diagnostics channels and the activity log hear. */
  | { readonly type: 'action'; readonly action: AnnouncedAction }

/** An entry of the activity log, before it gets its final form. */
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

/** Reports what has happened, once it is stored. */
export interface Events {
  /**
   * Passes one list of events to each listener in turn: a fixed list, which add-ons cannot change.
   *
   * 1. The reasons: stores why sessions ended. Awaited, because a request that finds its session deleted looks for it.
   * 2. The open connections: closes those of ended sessions, in this process and others.
   * 3. The session store: deletes ended sessions. Awaited.
   * 4. The directory of people.
   * 5. The activity log: awaited only if logins wait for the record. Only the log may refuse. The new
   *    session then counts as never started, and those after the log do not learn about it.
   * 6. The diagnostics channels.
   * 7. The subscribers of hooks.
   *
   * @throws SessmgrError `store_unavailable` if a login must be recorded but cannot be.
   */
  report(events: readonly LimiterEvent[]): Promise<void>
  /** Undefined without the `directory` option. */
  readonly directory: Promise<Directory> | undefined
  /**
   * Calls a listener for each session that this process ends, before the ending call resolves. Returns a function that
   * removes the listener.
   */
  listen(listener: EndListener): () => void
  /** Waits for everything in the background. */
  settled(): Promise<void>
}

export interface EventsParts {
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

/** A list of events, and what most listeners need of it. */
interface News {
  readonly events: readonly LimiterEvent[]
  /** Sessions that have ended and are still in the session store. */
  readonly ended: readonly EndedSession[]
  /** What the events are for add-ons. */
  readonly actions: readonly AnnouncedAction[]
}

type Listener = (news: News) => Promise<void> | void

function newsOf(events: readonly LimiterEvent[]): News {
  const ended: EndedSession[] = []
  for (const event of events) if (event.type === 'ended' && !event.isDeleted) ended.push(event.session)
  return { events, ended, actions: events.map(actionOf) }
}

/** Creates the events of a limiter, with all who hear them. */
export function createEvents(parts: EventsParts): Events {
  const { hooks, logger, log } = parts
  const atWork = new Set<Promise<void>>()
  const directory = openDirectory(parts)
  const connections = new EndSender(parts, inBackground)
  const listeners: readonly Listener[] = [
    toReasons(parts.notes),
    toConnections(connections),
    toSessionStore(parts),
    ...(directory ? [toDirectory(directory)] : []),
    ...(log ? [toLog(log)] : []),
    ({ actions }) => publishActions(actions),
    toHooks,
  ]

  function inBackground(work: Promise<void> | undefined): void {
    if (!work) return
    atWork.add(work)
    void work.finally(() => atWork.delete(work))
  }

  function toHooks({ actions }: News): void {
    // An add-on's strategy may name an unknown action.
    const failed = (error: SessmgrError) => logError(safeLogger(logger), error)
    for (const [name, ...given] of actions) inBackground(fireAtOnce(hooks, name, given)?.catch(failed))
  }

  return {
    async report(all) {
      let news = newsOf(all)
      let refusal: unknown
      for (const hear of listeners) {
        try {
          // Subscribers are called at once if nobody before them has to wait.
          const waiting = hear(news)
          if (waiting) await waiting
        } catch (error) {
          refusal = error
          const start = all.findIndex(({ type }) => type === 'started')
          news = newsOf(all.slice(0, start))
        }
      }
      if (refusal) throw refusal
    },
    directory,
    listen: (listener) => connections.listen(listener),
    async settled() {
      // Calls in progress may fire further actions.
      while (atWork.size > 0) await Promise.all(atWork)
    },
  }
}

/** Returns actions as events. */
export function asEvents(actions: readonly AnnouncedAction[]): LimiterEvent[] {
  return actions.map((action) => ({ type: 'action', action }))
}

/** Returns the action that an event is for add-ons. */
function actionOf(event: LimiterEvent): AnnouncedAction {
  switch (event.type) {
    case 'ended':
      return ['sessmgr_session_ended', event.session.record, event.session.end]
    case 'started':
      return ['sessmgr_session_started', event.session, event.how]
    case 'refused':
      return ['sessmgr_login_refused', event.client.userId, event.refusal]
    case 'logged out':
      return ['sessmgr_logout_all_users', event.logout.epoch]
    case 'erased':
      return ['sessmgr_user_erased', event.userId]
    default:
      return event.action
  }
}

/** Returns what the activity log records of an event with an action, if anything. */
function activityOf(event: LimiterEvent, [name, one, two]: AnnouncedAction): Activity | undefined {
  if (event.type === 'refused') return ['login.refused', event.client, event.refusal]
  if (event.type === 'logged out') return ['logout.all', event.logout.epoch, event.end]
  if (event.type === 'erased') return ['user.erased', event.erasure]
  if (name === 'sessmgr_session_started') return ['session.started', one, two]
  if (name === 'sessmgr_session_ended') return ['session.ended', one, two]
  return name === 'sessmgr_would_limit' ? ['login.would_limit', one, two] : undefined
}

function toReasons(notes: EndedNotes): Listener {
  return ({ events: [first], ended }) => {
    if (first?.type === 'logged out') return notes.rememberLogout(first.logout, first.end)
    return ended.length > 0 ? notes.remember(ended) : undefined
  }
}

function toConnections(connections: EndSender): Listener {
  return ({ events }) => {
    for (const event of events) {
      if (event.type === 'ended') connections.close(event.session)
      if (event.type === 'logged out') connections.closeAll()
    }
  }
}

/**
 * Deletes ended sessions from the session store. A failure is only logged, because the registry already refuses these
 * sessions.
 */
function toSessionStore({ hostSessions, logger }: EventsParts): Listener {
  const discard = async ({ record, sessionId }: StoredSession) => {
    try {
      await hostSessions.destroy(sessionId)
    } catch (reason) {
      const details = { token: record.token, error: errorText(reason, sessionId) }
      const message = 'An ended session could not be deleted from the session store. It is still refused.'
      logFailure(logger, message, details)
    }
  }
  return ({ ended }) => {
    if (ended.length > 0) return inBatches(ended, (batch) => Promise.all(batch.map(discard))).then(() => {})
  }
}

function toDirectory(directory: Promise<Directory>): Listener {
  const report = (it: Directory, { events, ended, actions }: News) => {
    for (const [index, event] of events.entries()) {
      const [name, session, how] = actions[index] as AnnouncedAction
      if (event.type === 'logged out') it.loggedOut(event.logout, event.kept)
      else if (event.type === 'started' && event.before) it.login(event.before, event.session, ended)
      else if (event.type === 'started') it.adopted(event.session)
      else if (name === 'sessmgr_session_ended') it.ended(session, how)
    }
  }
  return (news) => {
    directory.then((it) => report(it, news)).catch(() => {})
  }
}

function toLog(log: ActivityLog): Listener {
  return ({ events, actions }) => {
    for (const [index, event] of events.entries()) {
      const activity = activityOf(event, actions[index] as AnnouncedAction)
      if (activity) log.note(...activity)
    }
    const login = events.find((event) => event.type === 'refused' || (event.type === 'started' && event.before))
    return login && log.recorded?.(login.type === 'started' ? login.session : undefined)
  }
}

/** Opens the directory if the option asks for it. Few applications need its code, so it is loaded on demand. */
function openDirectory({ store, wantsDirectory, ...parts }: EventsParts): Promise<Directory> | undefined {
  if (!wantsDirectory) return undefined
  const directory = import('./directory.ts').then((late) => late.createDirectory({ ...parts, index: store.people }))
  // An in-place update may have removed the file.
  directory.catch(() => {})
  return directory
}
