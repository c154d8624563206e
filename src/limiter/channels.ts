import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { UserId } from '../ground/user-id.ts'
import type { Token } from '../sessions/session-record.ts'
import type { SessionRegistry } from '../sessions/session-registry.ts'
import type { SessmgrStore } from '../stores/store.ts'

/** The message published before and after each login. */
export interface LoginMessage {
  readonly userId: UserId
  /** The value of the `logic` setting, once it has been read. */
  mode?: string
  /** How many decisions the login took: more than one if other logins came first. */
  tries?: number
  /** How many sessions the login has ended. */
  displaced?: number
  result?: 'admitted' | 'refused' | 'asked' | 'failed'
  error?: unknown
}

const LOGIN = tracingChannel('sessmgr.login')
const CHECK = tracingChannel('sessmgr.check')
const STORE = tracingChannel('sessmgr.store')

/** Channels of actions, each with the function that builds its message. */
const ACTIONS: Readonly<Record<string, readonly [ReturnType<typeof channel>, (one: object, two: object) => object]>> = {
  sessmgr_session_started: [channel('sessmgr.session.started'), (session, how) => ({ session, ...how })],
  sessmgr_session_ended: [channel('sessmgr.session.ended'), (session, end) => ({ session, ...end })],
  sessmgr_login_refused: [channel('sessmgr.login.refused'), (userId, refusal) => ({ userId, ...refusal })],
  sessmgr_would_limit: [channel('sessmgr.login.would_limit'), (userId, report) => ({ userId, ...report })],
}

/** Publishes each action whose channel has subscribers. */
export function publishActions(actions: Iterable<readonly [name: string, ...parameters: unknown[]]>): void {
  for (const [name, one, two] of actions) {
    const found = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
    if (found?.[0].hasSubscribers) found[0].publish(found[1](one as never, two as never))
  }
}

/** Runs a login and publishes it. If anyone listens, `run` receives the message to complete. */
export function traceLogin<Outcome extends { readonly admitted: boolean; readonly choice?: unknown }>(
  userId: UserId,
  run: (message?: LoginMessage) => Promise<Outcome>,
): Promise<Outcome> {
  if (!isTraced(LOGIN)) return run()
  return trace(LOGIN, { userId } as LoginMessage, async (message) => {
    message.result = 'failed'
    const outcome = await run(message)
    message.result = outcome.admitted ? 'admitted' : outcome.choice ? 'asked' : 'refused'
    return outcome
  })
}

/**
 * Returns a check that publishes its calls if anyone listens. Otherwise, it creates no message, because every request
 * calls it.
 */
export function tracedCheck<Verdict extends { readonly live: boolean; readonly reason?: string }>(
  check: (userId: UserId, token: Token) => Promise<Verdict>,
): (userId: UserId, token: Token) => Promise<Verdict> {
  return (userId, token) => {
    if (!isTraced(CHECK)) return check(userId, token)
    return trace(CHECK, {} as { result?: string | undefined; error?: unknown }, async (message) => {
      const verdict = await check(userId, token)
      message.result = verdict.live ? 'live' : verdict.reason
      return verdict
    })
  }
}

const OPERATIONS = [
  'read',
  'commit',
  'adopt',
  'touch',
  'takeUp',
  'rotate',
  'end',
  'undo',
  'endOthers',
  'erase',
  'changeState',
] as const satisfies readonly (keyof SessionRegistry)[]

/** Returns a store's registry that publishes its calls, except `useOf`, because the check has its own channel. */
export function tracedSessions({ sessions, name: store }: SessmgrStore): SessionRegistry {
  const calls = sessions as unknown as Record<(typeof OPERATIONS)[number], (...given: unknown[]) => Promise<unknown>>
  const traced = OPERATIONS.map((operation) => {
    const call = (...given: unknown[]) =>
      isTraced(STORE)
        ? trace(STORE, { operation, store } as { error?: unknown }, () => calls[operation](...given))
        : calls[operation](...given)
    return [operation, call]
  })
  return {
    ...Object.fromEntries(traced),
    quietMs: sessions.quietMs,
    useOf: (userId, token) => sessions.useOf(userId, token),
  }
}

/** Checks whether anyone listens to a traced call. */
function isTraced({ start, asyncEnd, error }: TracingChannel): boolean {
  return start.hasSubscribers || asyncEnd.hasSubscribers || error.hasSubscribers
}

/** Traces like `tracePromise`, but does not overwrite `result` with the outcome. */
function trace<Message extends { error?: unknown }, Result>(
  { start, end, asyncStart, asyncEnd, error: failed }: TracingChannel,
  message: Message,
  run: (message: Message) => Promise<Result>,
): Promise<Result> {
  return start.runStores(message, async () => {
    const running = run(message)
    end.publish(message)
    try {
      return await running
    } catch (error) {
      message.error = error
      failed.publish(message)
      throw error
    } finally {
      asyncStart.publish(message)
      asyncEnd.publish(message)
    }
  })
}
