import { Erasures } from '../auth/erasures.ts'
import type { Logger } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import { createHooks, type Hooks } from '../hooks/hooks.ts'
import type { StolenSession } from '../hooks/session-hooks.ts'
import type { OptionChange } from '../options/option-change.ts'
import { createOptionRegistry, type OptionCollection } from '../options/option-registry.ts'
import { createSettings, type SettingsService } from '../options/session-settings.ts'
import type { CodeSettings } from '../options/setting-rules.ts'
import type { SiteOption } from '../options/site-option.ts'
import { clientOf } from '../sessions/address.ts'
import type { EndedByWhom, EndedCause, SignedOutReason } from '../sessions/session-end.ts'
import type { NewSession, Token } from '../sessions/session-record.ts'
import type { HostSessions, SessionRegistry, SessionUse, UserEnds } from '../sessions/session-registry.ts'
import type { SessmgrStore, VerdictWatch } from '../stores/store.ts'
import type { LimitStrategy } from '../strategies/limit-strategy.ts'
import { createLogicModes, type LogicModes, modeIds } from '../strategies/logic-catalogue.ts'
import { type Admission, createAdmission } from './admit-login.ts'
import { tracedCheck, tracedSessions } from './channels.ts'
import { adoptSession, checkSession, type OverKind, reachStore, type SessionVerdict, takeUp } from './check-session.ts'
import type { EstablishedSession } from './decision/commit-login.ts'
import type { LoginAttempt } from './decision/evaluate-login.ts'
import type { ExplainOptions, LimitExplanation } from './decision/explain-login.ts'
import type { LabelLimits } from './decision/label-group.ts'
import type { LoginOption } from './decision/login-option.ts'
import { type LoginPreview, previewLogin } from './decision/refusals.ts'
import type { Directory } from './directory.ts'
import {
  endOver,
  endReused,
  endSeveral,
  endStolen,
  giveUpSession,
  invalidateSession,
  releaseSession,
  signOutOthers,
  touchOrEnd,
} from './ending/end-sessions.ts'
import { causeFrom, createEndedNotes } from './ending/ended-notes.ts'
import type { ErasedUser, OtherTraces } from './ending/erase-user.ts'
import { type ActivityLog, createEvents, type Events } from './events.ts'
import type { LimiterContext } from './limiter-context.ts'
import { createSessionManager, type SessionManager } from './manage-sessions.ts'

export interface LimiterParts {
  readonly store: SessmgrStore
  readonly hostSessions: HostSessions
  readonly logger: Logger
  readonly settings: CodeSettings
  readonly strategies: readonly LimitStrategy[]
  /** Limits per label. @default none */
  readonly labels?: LabelLimits | undefined
  /** Says what the session of a login is. @default it has no label, and counts */
  readonly login?: LoginOption | undefined
  /** Whether to keep the store's index of people up to date. @default false */
  readonly directory?: boolean | undefined
  /** How many milliseconds each asynchronous hook subscriber may take. */
  readonly deadlineMs: number
  /** Longest time between updates of a session's last use. */
  readonly touchEveryMs: number
  /** How long to remember why a session ended; 0 means not at all. */
  readonly endedMemoryMs: number
  /** The activity log. @default none */
  readonly log?: ActivityLog | undefined
}

/** The session limit, independent of any web framework. */
export interface SessionLimiter {
  /** Follows changes to sessions, if the store supports that. */
  readonly watch: VerdictWatch | undefined
  /** Whether a restart deletes all data. */
  readonly isLocal: boolean
  readonly hooks: Hooks
  readonly settings: SettingsService
  readonly options: OptionCollection
  readonly modes: LogicModes
  readonly sessions: SessionManager
  /** Lists the people who are signed in. Undefined without the `directory` option. */
  readonly directory: Promise<Directory> | undefined
  /** Calls a listener for each session that this process ends, before the ending call resolves; see `Events`. */
  readonly onEnd: Events['listen']
  /**
   * Ends a user's other sessions at the user's request, like `sessions.endOthers`. Because the password has not
   * changed, the user's choices keep counting toward a cooldown.
   */
  readonly signOutOthers: SessionManager['endOthers']
  /** Ends several sessions of a user; see `endSeveral`. */
  endSeveral(userId: UserId, tokens: readonly Token[], whom: EndedByWhom): Promise<number>
  /** Performs a login; see `admitLogin`. */
  admit(attempt: LoginAttempt, establish: () => Promise<EstablishedSession>): Promise<Admission>
  /** Decides on a login without performing it; see {@link previewLogin}. */
  preview(attempt: LoginAttempt): Promise<LoginPreview>
  /** Explains how the limit applies to a user. Changes nothing; see `explainLogin`. */
  explain(userId: UserId, options?: ExplainOptions): Promise<LimitExplanation>
  /** Checks whether a registered session is live; see {@link checkSession}. */
  check(userId: UserId, token: Token): Promise<SessionVerdict>
  /** Whether the store did not respond when it was last asked about a session. */
  readonly isStoreAway: boolean
  /** Checks whether the store responds; see {@link reachStore}. */
  reach(): Promise<void>
  /** Registers a session from before sessmgr; see {@link adoptSession}. */
  adopt(userId: UserId, session: Omit<NewSession, 'generation'>): Promise<SessionVerdict>
  /** Ends a stale session, once; see {@link invalidateSession}. */
  invalidate(userId: UserId, sessionId: string, current?: number): Promise<void>
  /**
   * Records the use of a session; see `SessionRegistry.touch`. Resolves to false if the session is not registered.
   *
   * @param ttlMs If undefined, the expiry stays.
   */
  touch(userId: UserId, token: Token, ttlMs: number | undefined, freshMs?: number): Promise<boolean>
  /** Records that a request has come with a live session; see {@link takeUp}. */
  takeUp(userId: UserId, token: Token, use: SessionUse | undefined): Promise<boolean>
  /** Rotates a refresh token; see `SessionRegistry.rotate`. */
  readonly rotate: SessionRegistry['rotate']
  /** Ends a session that is over although it is registered; see {@link endOver}. */
  endOver(userId: UserId, token: Token, kind: OverKind): Promise<void>
  /** Ends a session whose refresh token was used again, or all sessions of its user; see {@link endReused}. */
  endReused(userId: UserId, token: Token, isForAll: boolean): Promise<void>
  /** Ends a bound session that a client without its key has tried to use; see {@link endStolen}. */
  endStolen(userId: UserId, token: Token, about: StolenSession): Promise<void>
  /**
   * Frees the slot of a session that the framework has ended, and fires `sessmgr_session_ended`. Resolves to true if
   * the session was still live.
   */
  release(userId: UserId, token: Token): Promise<boolean>
  /** Frees the slot of a session that a request gives up; see `giveUpSession`. */
  giveUp(userId: UserId, token: Token): Promise<UserEnds | undefined>
  /**
   * Finds out why a session has ended. Resolves to undefined if this is unknown. Never rejects.
   *
   * @param current The current logout generation, if it was just read.
   */
  causeOf(token: Token, reason: SignedOutReason, current?: number): Promise<EndedCause | undefined>
  /** Removes a user's data; see `eraseUser`. */
  erase(traces: OtherTraces, userId: UserId, whom?: EndedByWhom): Promise<ErasedUser>
  /**
   * Waits for asynchronous subscribers, then closes the store.
   *
   * @param before Runs while the store is still open.
   */
  close(before?: () => Promise<void>): Promise<void>
}

/** Creates the session limit. */
export function createSessionLimiter(parts: LimiterParts): SessionLimiter {
  const { store, logger, deadlineMs, labels, log } = parts
  const erasures = new Erasures(store)
  const hooks = createHooks({ logger, deadlineMs })
  const noteChange = (change: OptionChange) => log?.note('settings.changed', change)
  const modes = createLogicModes(hooks, parts.strategies)
  const settings = createSettings({
    options: store.options,
    hooks,
    initial: parts.settings,
    deadlineMs,
    logics: modeIds(parts.strategies),
    catalogue: async () => Object.keys(await modes.catalogue()),
    noteChange,
  })
  const outage = { at: Number.NEGATIVE_INFINITY, isOn: false }
  const notes = createEndedNotes(parts)
  const countOf = async (userId: UserId) => (await sessions.list(userId)).length
  const events = createEvents({ ...parts, wantsDirectory: parts.directory, hooks, notes, erasures, countOf })
  // Load the code now, before an in-place update can remove the file.
  if (labels) import('./decision/label-group.ts').catch(() => {})
  const { local, epoch, transients, people } = store
  const traced = { local: local === true, sessions: tracedSessions(store), epoch, transients, people }
  const own = { labels, hooks, settings, modes, notes, events, erasures, outage }
  const context: LimiterContext = { ...parts, store: traced, ...own }
  const sessions = createSessionManager(context)
  const admit = createAdmission(context)
  /** Every login passes here, so this decides in which form addresses and user agents are stored and compared. */
  const ofClient = (attempt: LoginAttempt) => ({ ...attempt, ...clientOf(attempt) })

  return {
    watch: store.watch,
    isLocal: store.local === true,
    hooks,
    settings,
    options: createOptionRegistry(store.options, hooks, [settings.option as SiteOption], noteChange),
    modes,
    sessions,
    directory: events.directory,
    onEnd: events.listen,
    signOutOthers: signOutOthers.bind(undefined, context),
    endSeveral: endSeveral.bind(undefined, context),
    admit: (attempt, establish) => admit(ofClient(attempt), establish),
    preview: (attempt) => previewLogin(context, ofClient(attempt)),
    explain: async (...given) => (await import('./decision/explain-login.ts')).explainLogin(context, ...given),
    check: tracedCheck(checkSession.bind(undefined, { store, outage, erasures })),
    get isStoreAway() {
      return outage.isOn
    },
    reach: reachStore.bind(undefined, context),
    adopt: adoptSession.bind(undefined, context),
    invalidate: invalidateSession.bind(undefined, context),
    touch: touchOrEnd.bind(undefined, context),
    takeUp: takeUp.bind(undefined, context),
    rotate: async (userId, token, presented, change) =>
      traced.sessions.rotate(userId, token, presented, { ...change, maxAgeMs: await settings.ageInUse() }),
    endOver: endOver.bind(undefined, context),
    endReused: endReused.bind(undefined, context),
    endStolen: endStolen.bind(undefined, context),
    release: releaseSession.bind(undefined, context),
    giveUp: giveUpSession.bind(undefined, context),
    async causeOf(...given) {
      const end = await notes.endOf(...given)
      return end && causeFrom(end)
    },
    async erase(...given) {
      const late = await import('./ending/erase-user.ts')
      return late.eraseUser(context, ...given)
    },
    async close(before) {
      await events.settled()
      await events.directory?.then((it) => it.flush()).catch(() => {})
      await Promise.resolve(before?.()).finally(() => store.close())
    },
  }
}
