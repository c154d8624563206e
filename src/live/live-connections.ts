import { messageOf } from '../ground/error-text.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { type Logger, warn, warnOnce } from '../ground/logger.ts'
import { requireKnown } from '../ground/option-checks.ts'
import { requireUserId, type UserId } from '../ground/user-id.ts'
import { responseOf } from '../guard/notice/node-pair.ts'
import type { ResponseLike } from '../guard/request/device-cookies.ts'
import { guardedRequestOf, type RequestLike } from '../guard/request/host-visit.ts'
import type { Sessmgr } from '../service/service.ts'
import { coreOf } from '../service/service-core.ts'
import { TOKEN_PATTERN, type Token } from '../sessions/token.ts'
import { closeSocket, type LiveSocket, requireSocket } from './close-socket.ts'
import { closeStream, refuseStream } from './close-stream.ts'
import { followSignals } from './follow-signals.ts'
import { endedBy, type LiveEnd } from './live-end.ts'
import { type LiveOptions, resolveLiveOptions } from './live-options.ts'
import { LiveSessions } from './live-sessions.ts'
import { noteUse } from './note-use.ts'
import { checkOrigins, isOwnOrigin, type OriginOptions } from './own-origin.ts'
import { closeIoSocket, type IoMiddleware, onIoClose, refusal, skipsMiddleware } from './socket-io.ts'
import { Sweep } from './sweep.ts'
import { handleUpgrades, type SocketServer, type UpgradeMiddleware, type UpgradeOptions } from './upgrade.ts'
import type { UpgradableServer } from './upgrade-paths.ts'

/** State of a closed WebSocket. */
const CLOSED = 3

const UNCHECKED =
  'socket.io would let clients in unchecked after a lost connection, so all of them are refused. Set ' +
  'connectionStateRecovery: { skipMiddlewares: false }.'

/** Closes open connections when their session ends. */
export interface LiveConnections {
  /** Number of tracked connections in this process. */
  readonly size: number
  /**
   * Tracks a WebSocket of the ws package, for a request that has passed the session middleware and sessmgr. Without a
   * session, closes it with 4401.
   *
   * @returns False if there is no session.
   * @throws SessmgrError `invalid_option`.
   */
  socket(request: RequestLike, socket: LiveSocket): boolean
  /**
   * Tracks an event stream or any other long response. Call it before you write to the response.
   *
   * @returns False if there is no session. The request was then answered, and you must not write to it.
   * @throws SessmgrError `invalid_option`.
   */
  stream(request: RequestLike, response: ResponseLike): boolean
  /**
   * Returns a middleware for socket.io that refuses sockets of other sites or without a session, and tracks the others.
   * Call `io.engine.use` with the session middleware and the limiter before.
   *
   * @throws SessmgrError `invalid_option`.
   */
  socketIo(options?: OriginOptions): IoMiddleware
  /**
   * Lets a `WebSocketServer` with `noServer: true` handle the upgrades of a server. Checks the `Origin` header, runs
   * the session middleware and the limiter, answers 401 without a session, and tracks the sockets.
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
   * Tracks any other connection.
   *
   * @param session The session of its request, as in `request.sessmgr.session`.
   * @param close Closes the connection. Called at most once.
   * @returns What to call when the connection is closed for another reason.
   * @throws SessmgrError `invalid_option`, `user_id_missing`.
   */
  track(session: { readonly userId: UserId; readonly token: Token }, close: (end: LiveEnd) => void): () => void
  /** Closes all tracked connections so that their clients connect again later, and stops. Call it before `limiter.close()`. */
  close(): Promise<void>
}

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
  const unlisten = core.limiter.ends.listen((ended, kind) => {
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
  const sessionOf = (request: RequestLike) => guardedRequestOf(request).sessmgr?.session
  const useOf = (request: RequestLike) => (keepInUse ? noteUse(core, request) : undefined)

  const track = ({ userId, token }: { userId: UserId; token: Token }, close: (end: LiveEnd) => unknown) =>
    sessions.track(userId, token, { close: attempted(close, logger) })

  function socket(request: RequestLike, opened: LiveSocket): boolean {
    // Without a listener, a broken frame would crash the process.
    opened.on('error', () => {})
    const session = sessionOf(request)
    if (!session) closeSocket(opened, endedBy(undefined), closeAfterMs)
    if (!session || opened.readyState === CLOSED) return false
    const { stop } = track(session, (end) => closeSocket(opened, end, closeAfterMs))
    opened.on('close', stop)
    const used = useOf(request)
    if (used) opened.on('message', used)
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
      const begin = () => response.on('close', track(session, (end) => closeStream(response, end, closeAfterMs)).stop)
      // A pipelined request has no connection until the requests before it are answered, and would not know about its end.
      if (response.socket) begin()
      else response.once('socket', begin)
      return true
    },
    socketIo(given = {}) {
      requireKnown(given, ['origins'], (name) => `live.socketIo() has no option "${name}"`)
      checkOrigins(given.origins)
      return (opened, next) => {
        if (!isOwnOrigin(opened.request.headers, given.origins)) return next(new Error('foreign_origin'))
        if (skipsMiddleware(opened)) {
          warnOnce(logger, 'open-connections', UNCHECKED)
          return next(new Error('unchecked_recovery'))
        }
        const session = sessionOf(opened.request)
        if (!session) return next(refusal(endedBy(undefined)))
        let over: LiveEnd | undefined
        let isAdmitted = false
        const { stop, checked } = track(session, (end) => {
          over = end
          if (isAdmitted) closeIoSocket(opened, end, closeAfterMs)
        })
        onIoClose(opened, stop)
        const used = useOf(opened.request)
        if (used) opened.onAny(used)
        void checked.then(() => {
          isAdmitted = true
          next(over && refusal(over))
        })
      }
    },
    upgrade: (server, chain, sockets, given = {}) => handleUpgrades(server, chain, sockets, given, socket),
    track(session, close) {
      requireUserId(session?.userId)
      if (typeof session.token !== 'string' || !TOKEN_PATTERN.test(session.token)) {
        throw invalidOption('live.track() needs a session as in request.sessmgr.session: { userId, token }')
      }
      if (typeof close !== 'function') throw invalidOption('live.track() needs a function that closes the connection')
      return track(session, close).stop
    },
    async close() {
      sweep.stop()
      unlisten()
      sessions.close()
      await unfollow()
    },
  }
}

/** A failure, for example of the application's function, must not affect other connections or the ending call. */
function attempted(close: (end: LiveEnd) => unknown, logger: Logger): (end: LiveEnd) => void {
  return (end) => {
    const run = async () => close(end)
    run().catch((error) =>
      warn(logger, 'open-connections', 'An open connection could not be closed.', { error: messageOf(error) }),
    )
  }
}
