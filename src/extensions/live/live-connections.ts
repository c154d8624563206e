import {
  coreOf,
  decodeEnds,
  type EndKind,
  type Login,
  responseOf,
  type ServiceCore,
  type SessionGuard,
  type StoreSignals,
  TOKEN_PATTERN,
  visitOf,
} from '../../extend.ts'
import { messageOf, SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { type Logger, logFailure, warn } from '../../ground/logger.ts'
import { type Declared, requireBoolean, requireObject, resolveDeclared, whole } from '../../ground/option-checks.ts'
import { requireUserId } from '../../ground/user-id.ts'
import type { RequestLike, ResponseLike, Sessmgr, Token } from '../../index.ts'
import {
  closeSocket,
  closeStream,
  endedBy,
  type LiveEnd,
  type LiveSocket,
  refuseStream,
  requireSocket,
} from './close-connection.ts'
import { LiveSessions, Sweep } from './live-sessions.ts'
import {
  handleUpgrades,
  type SocketServer,
  type UpgradableServer,
  type UpgradeMiddleware,
  type UpgradeOptions,
} from './upgrade.ts'

/** Closes open connections when their session ends. */
export interface LiveConnections {
  /** Number of tracked connections in this process. */
  readonly size: number
  /**
   * Tracks a WebSocket of the ws package. Its request must have passed the session middleware and sessmgr. Without a
   * session, closes the socket with code 4401.
   *
   * @returns False if there is no session, or if the socket is already closed.
   * @throws SessmgrError `invalid_option`.
   */
  socket(request: RequestLike, socket: LiveSocket): boolean
  /**
   * Tracks an event stream or any other long response. Call it before you write to the response.
   *
   * @returns False if there is no session. The response has then ended; do not write to it.
   * @throws SessmgrError `invalid_option`.
   */
  stream(request: RequestLike, response: ResponseLike): boolean
  /**
   * Lets a `WebSocketServer` with `noServer: true` handle a server's upgrades. Checks the `Origin` header, runs the
   * session middleware and the limiter, responds with 401 if there is no session, and tracks the sockets.
   *
   * @param chain The session middleware and the limiter.
   * @throws SessmgrError `invalid_option`.
   */
  upgrade(
    server: UpgradableServer,
    chain: readonly UpgradeMiddleware[],
    sockets: SocketServer,
    options?: UpgradeOptions,
  ): void
  /**
   * Tracks a connection of any other kind.
   *
   * @param session The session of the connection's request, as in `request.sessmgr.session`.
   * @param close Closes the connection. Called at most once.
   * @returns The function to call when the connection closes for another reason.
   * @throws SessmgrError `invalid_option`, `user_id_missing`.
   */
  track(session: Login, close: (end: LiveEnd) => void): () => void
  /**
   * Stops tracking and closes all connections with `try_again`, so that clients reconnect later. Call it before
   * `limiter.close()`.
   */
  close(): Promise<void>
}

/** Options of liveConnections(). Omitted or undefined options use their defaults. */
export interface LiveOptions {
  /**
   * Longest time between two checks of a session with open connections, in milliseconds from 100 to 3,600,000.
   * @default 15000
   */
  readonly sweepEvery?: number | undefined
  /**
   * How many milliseconds to keep connections while the store does not respond, from 0 to 3,600,000. @default 60000
   */
  readonly graceMs?: number | undefined
  /** How many milliseconds a client has to confirm a close, from 0 to 60,000. @default 2000 */
  readonly closeAfterMs?: number | undefined
  /**
   * Whether messages from a client count as use of its session, so that it does not expire. Pings do not count.
   * @default true
   */
  readonly keepInUse?: boolean | undefined
}

const OPTIONS = {
  sweepEvery: [whole(100, 3_600_000), 15_000],
  graceMs: [whole(0, 3_600_000), 60_000],
  closeAfterMs: [whole(0, 60_000), 2000],
  keepInUse: [requireBoolean, true],
} as const satisfies Declared<LiveOptions>

/** Returns the options with their defaults. @throws SessmgrError `invalid_option`. */
export function resolveLiveOptions(options: LiveOptions = {}) {
  requireObject('The options of liveConnections()', options)
  return resolveDeclared(OPTIONS, options)
}

/** The `readyState` of a closed WebSocket. */
const CLOSED = 3

/**
 * Tracks open connections, and closes those whose session ends.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * const live = liveConnections(limiter)
 * live.upgrade(server, [sessions, limiter], wss)
 */
export function liveConnections(limiter: Sessmgr, options?: LiveOptions): LiveConnections {
  const core = coreOf(limiter, 'liveConnections(limiter)')
  const { sweepEvery, graceMs, closeAfterMs, keepInUse } = resolveLiveOptions(options)
  const { store, logger } = core.options
  const onUnknown = (checkAt: number) => sweep.at(checkAt)
  const sessions = new LiveSessions({ limiter: core.limiter, graceMs, onUnknown })
  const sweep = new Sweep(sessions, sweepEvery)
  const unlisten = core.limiter.onEnd((ended, kind) => {
    if (ended) sessions.ended(ended, kind)
    else void sweep.spread('local')
  })
  const unfollow = followSignals(
    store.signals,
    {
      ended: (token, kind) => sessions.checkToken(token, kind),
      endedAll: () => void sweep.spread('message'),
      missed: () => sweep.missed(),
    },
    logger,
  )
  const sessionOf = (request: RequestLike) => visitOf(request)?.sessmgr?.session

  const track = ({ userId, token }: Login, close: (end: LiveEnd) => unknown) =>
    sessions.track(userId, token, { close: attempted(close, logger) })

  function socket(request: RequestLike, opened: LiveSocket): boolean {
    // Without an `error` listener, a malformed frame would crash the process.
    opened.on('error', () => {})
    const session = sessionOf(request)
    if (!session) closeSocket(opened, endedBy(undefined), closeAfterMs)
    if (!session || opened.readyState === CLOSED) return false
    const stop = track(session, (end) => closeSocket(opened, end, closeAfterMs))
    opened.on('close', stop)
    if (keepInUse) opened.on('message', noteUse(core, request))
    return true
  }

  return {
    get size() {
      return sessions.size
    },
    socket: (request, opened) => socket(request, requireSocket(opened)),
    stream(request, given) {
      const response = responseOf(given, 'live.stream(request, response)')
      const session = sessionOf(request)
      if (!session && !response.headersSent) refuseStream(response)
      if (!session || response.destroyed) return false
      const begin = () =>
        response.on(
          'close',
          track(session, (end) => closeStream(response, end, closeAfterMs)),
        )
      // The response to a pipelined request has no socket until earlier responses end, and would miss the socket's
      // close.
      if (response.socket) begin()
      else response.once('socket', begin)
      return true
    },
    upgrade: (server, chain, sockets, given = {}) => handleUpgrades(server, chain, sockets, given, socket),
    track(session, close) {
      requireUserId(session?.userId)
      if (typeof session.token !== 'string' || !TOKEN_PATTERN.test(session.token)) {
        throw invalidOption('live.track() needs a session as in request.sessmgr.session: { userId, token }')
      }
      if (typeof close !== 'function') throw invalidOption('live.track() needs a function that closes the connection')
      return track(session, close)
    },
    async close() {
      sweep.stop()
      unlisten()
      sessions.close()
      await unfollow()
    },
  }
}

/**
 * Wraps a caller's `close`. Its failure is logged, and affects neither other connections nor the call that ended the
 * session.
 */
function attempted(close: (end: LiveEnd) => unknown, logger: Logger): (end: LiveEnd) => void {
  return (end) => {
    const run = async () => close(end)
    run().catch((error) => logFailure(logger, 'An open connection could not be closed.', { error: messageOf(error) }))
  }
}

/** Returns a function that records a use of the session, at most once per `touchEvery`. */
function noteUse({ guardOf, options }: ServiceCore, request: RequestLike): () => void {
  const visit = visitOf(request)
  if (!visit) return () => {}
  const { session, sessionID } = visit
  let guard: SessionGuard
  try {
    guard = guardOf(visit)
  } catch {
    // With explicit calls, only the application can touch its sessions.
    return () => {}
  }
  if (!session || sessionID === undefined) return () => {}
  let freshUntil = performance.now() + guard.lives.touchInterval(session, options.touchEveryMs)
  return () => {
    const now = performance.now()
    if (now < freshUntil) return
    freshUntil = now + guard.lives.touchInterval(session, options.touchEveryMs)
    // Extends the cookie's expiry, from which the session's lifetime is read.
    ;(session as { touch?: () => void }).touch?.()
    void guard.touch(sessionID, session, false)
  }
}

const RETRY_MS = 30_000
const UNHEARD =
  'Messages from other processes about ended sessions cannot be received, so open connections close up to one sweep later.'

/** Handlers of messages from other processes. A message is only a hint to check the session. */
interface EndHints {
  ended(token: Token, kind: EndKind): void
  endedAll(): void
  missed(): void
}

/** Subscribes to messages from other processes, and retries if that fails. Returns a function that unsubscribes. */
function followSignals(signals: StoreSignals | undefined, hints: EndHints, logger: Logger): () => Promise<void> {
  if (!signals) return async () => {}
  const { subscribe } = signals
  let isOver = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let stop: (() => Promise<void>) | undefined

  function heard(message: string): void {
    const signal = isOver ? undefined : decodeEnds(message)
    if (!signal) return
    if (!signal.tokens) hints.endedAll()
    for (const token of signal.tokens ?? []) hints.ended(token, signal.kind)
  }

  async function follow(): Promise<void> {
    try {
      stop = await subscribe.call(signals, { heard, missed: hints.missed })
      // Messages sent before the subscription began were missed.
      if (isOver) await stop()
      else hints.missed()
    } catch (error) {
      if (isOver) return
      const isRefused = error instanceof SessmgrError && error.code === 'invalid_option'
      warn(logger, 'open-connections', `${UNHEARD} ${isRefused ? error.message : 'Allow the client to subscribe.'}`)
      if (isRefused) return
      timer = setTimeout(() => void follow(), RETRY_MS).unref()
    }
  }

  void follow()
  return async () => {
    isOver = true
    clearTimeout(timer)
    await stop?.()
  }
}
