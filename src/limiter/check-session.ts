// Not the global ones, so that the fake timers of an application's tests do not end its logins.
import { clearTimeout, setTimeout } from 'node:timers'
import { inBatches } from '../ground/deadline.ts'
import { messageOf, SessmgrError } from '../ground/errors.ts'
import { logFailure } from '../ground/logger.ts'
import type { UserId } from '../ground/user-id.ts'
import {
  type Epoch,
  isCurrent,
  type NewSession,
  type SessionHost,
  type StoredSession,
  TOKEN_PATTERN,
  type Token,
  tokenOf,
} from '../sessions/session-record.ts'
import type { HostSessions, SessionUse } from '../sessions/session-registry.ts'
import type { SessmgrStore } from '../stores/store.ts'
import type { LimiterContext, Outage } from './limiter-context.ts'

/** How a registered session is over: by its age, or with the session of another user that it depended on. */
export type OverKind = 'max_age' | 'signed_out'

/** Whether a session is live. */
export type SessionVerdict =
  | { readonly live: true; readonly use?: SessionUse | undefined }
  | {
      readonly live: false
      /**
       * `max_age` and `signed_out`, as the kind of its end: it is still registered, and must be ended with `endOver`.
       */
      readonly reason: 'ended' | OverKind
      readonly current?: undefined
    }
  | {
      readonly live: false
      readonly reason: 'logout_all'
      /** The current logout generation. */
      readonly current: number
    }

/** Signals of the requests that have first used a store. */
const firstRequests = new WeakMap<object, AbortSignal>()

/**
 * Refuses a store that another request has used, in runtimes that do not let a request use, or wait for, what another
 * request has begun. Cloudflare Workers would cancel it.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function requireOwnRequest({ epoch }: Pick<SessmgrStore, 'epoch'>): void {
  const signal = firstRequests.get(epoch)
  if (!signal) return void firstRequests.set(epoch, new AbortController().signal)
  try {
    // There, a signal can only be read by the request that has created it.
    void signal.aborted
  } catch (cause) {
    const cure = 'Create the store and the limiter in each request, or once inside a Durable Object'
    throw new SessmgrError('invalid_option', `Another request has used the limiter or its store. ${cure}.`, { cause })
  }
}

/** Notes whether the store responds to a call, and returns the result of the call. */
async function noted<T>(outage: Outage, call: Promise<T>): Promise<T> {
  try {
    const value = await call
    outage.isOn = false
    return value
  } catch (error) {
    outage.isOn = true
    outage.at = performance.now()
    throw error
  }
}

/** Checks whether a registered session is still live. Changes nothing. */
export async function checkSession(
  context: Pick<LimiterContext, 'store' | 'outage' | 'erasures'>,
  userId: UserId,
  token: Token,
): Promise<SessionVerdict> {
  requireOwnRequest(context.store)
  const { sessions, epoch } = context.store
  const [use, current] = await noted(context.outage, Promise.all([sessions.useOf(userId, token), epoch.current()]))
  const verdict = verdictOn(current, token, use?.generation, use)
  if (!verdict.live) return verdict
  if (use?.isAged) return { live: false, reason: 'max_age' }
  return use?.host && !(await isThere(context, use.host)) ? { live: false, reason: 'signed_out' } : verdict
}

/** Checks whether the user who acts as another has not been signed out since. */
async function isThere(context: Parameters<typeof checkSession>[0], host: SessionHost): Promise<boolean> {
  const { store, erasures, outage } = context
  const [userId, on, at] = host
  if (typeof on === 'string') return (await checkSession(context, userId, on)).live
  const [{ mark }, erasedAt = 0] = await noted(outage, Promise.all([store.sessions.read(userId), erasures.of(userId)]))
  return mark === on && erasedAt < Number(at)
}

/**
 * Checks whether the store responds.
 *
 * @throws SessmgrError `store_unavailable`.
 */
export async function reachStore({ store, outage }: Pick<LimiterContext, 'store' | 'outage'>): Promise<void> {
  await noted(outage, store.epoch.current())
}

/** How soon a login asks sessmgr's own store while it waits for the session store, as a part of the deadline. */
const WATCH_PART = 1 / 8

/**
 * Waits for the session store, but no longer than sessmgr's own store responds. The session store has no deadline of
 * ours, and both may be on one server that hangs.
 *
 * @throws SessmgrError `store_unavailable`.
 */
export function unlessAway<T>(
  { store, deadlineMs, outage }: Pick<LimiterContext, 'store' | 'deadlineMs' | 'outage'>,
  call: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const everyMs = deadlineMs * WATCH_PART
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    const ask = () => {
      if (!isOver) timer = setTimeout(() => noted(outage, store.epoch.current()).then(ask, reject), everyMs).unref()
    }
    const end = () => {
      isOver = true
      clearTimeout(timer)
    }
    ask()
    call.finally(end).then(resolve, reject)
  })
}

/**
 * Checks whether a user has a registered session with this token. Returns false for anything but a whole token, because
 * a store may identify sessions by part of it.
 */
export async function isRegistered(
  { sessions }: Pick<SessmgrStore, 'sessions'>,
  userId: UserId,
  token: unknown,
): Promise<boolean> {
  if (typeof token !== 'string' || !TOKEN_PATTERN.test(token)) return false
  return (await sessions.useOf(userId, token)) !== undefined
}

/**
 * Registers a session from before sessmgr, and checks whether it is live.
 *
 * The session belongs to generation 0, so it is stale after any site-wide logout.
 */
export async function adoptSession(
  context: LimiterContext,
  userId: UserId,
  session: Omit<NewSession, 'generation'>,
): Promise<SessionVerdict> {
  const { store, erasures } = context
  const token = tokenOf(session.sessionId)
  const [erasedAt, current] = await Promise.all([erasures.of(userId), store.epoch.current()])
  // A new user with the same id begins with a login, so any unregistered session belongs to the erased user.
  if (erasedAt !== undefined && !(await isRegistered(store, userId, token))) return ENDED
  const { settings } = context
  const maxAgeMs = await settings.ageAtLogin(userId, await settings.get(), () => undefined)
  const adopted = await store.sessions.adopt(userId, { ...session, generation: 0, maxAgeMs })
  if (adopted?.isNew) {
    const how = { replaced: null, displaced: [], adopted: true }
    const { record } = adopted
    await context.events.report([{ type: 'started', session: record, how }])
  }
  return verdictOn(current, token, adopted?.record.generation)
}

/** Records the use of a session; see `SessionRegistry.touch`. Does not tell its user if it has just reached its age. */
export function touchSession(
  { store, outage, settings }: LimiterContext,
  userId: UserId,
  token: Token,
  ttlMs: number | undefined,
  freshMs?: number,
): Promise<boolean> {
  const touch = async () => store.sessions.touch(userId, token, ttlMs, freshMs, await settings.ageInUse())
  return noted(outage, touch())
}

/**
 * Records that a request has come with a live session, unless that is known. Resolves to false if the session has ended
 * in the meantime. Never rejects: a session that can be read must not be refused because the store accepts no write.
 */
export async function takeUp(
  { store, logger }: LimiterContext,
  userId: UserId,
  token: Token,
  use: SessionUse | undefined,
): Promise<boolean> {
  if (use?.takenUp !== false) return true
  return store.sessions.takeUp(userId, token).catch((error) => {
    const message = 'The first request of a session could not be recorded, so a login in the same browser may end it.'
    logFailure(logger, message, { token, error: messageOf(error) })
    return true
  })
}

/** The verdict on a session that is not registered. */
export const ENDED = { live: false, reason: 'ended' } as const satisfies SessionVerdict

function verdictOn(epoch: Epoch, token: Token, generation: number | undefined, use?: SessionUse): SessionVerdict {
  if (generation === undefined) return ENDED
  if (isCurrent(epoch, { token, generation })) return { live: true, use }
  return { live: false, reason: 'logout_all', current: epoch.generation }
}

/**
 * Checks, in order, which of these sessions the session store still has, until `enough` are found.
 *
 * Resolves to one result for each session that was checked.
 */
export function heldSessions(
  host: HostSessions,
  sessions: readonly StoredSession[],
  enough: number,
): Promise<readonly boolean[]> {
  return inBatches(
    sessions.map(({ sessionId }) => sessionId),
    async (ids) => {
      const holdsAll = ids.length > 1 && (await host.holdsAll?.(ids))
      return holdsAll ? ids.map(() => true) : Promise.all(ids.map((id) => host.exists(id)))
    },
    (answers) => answers.filter(Boolean).length >= enough,
  )
}
