import { withDeadline } from '../../../ground/deadline.ts'
import type { RowJudges } from '../../document/row-cache.ts'
import { ANY_CLIENT, type VerdictWatch, type WatchedSession } from '../../store.ts'
import { withoutArguments } from '../redis-calls.ts'
import type { RedisClient } from '../redis-client.ts'
import type { ServerClock } from '../server-clock.ts'
import { NotBelievable, TooLittleRoom, type TrackableClient, whyNotTrackable } from './trackable-client.ts'
import type { TrackedConnection, Tracking } from './tracked-connection.ts'

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 2000
/** Pause after a connection hung, because the next connection may open and hang as well. */
const HANG_WAIT_MS = 10_000
/** Pause after a refusal, doubled after each further one. An operator may change the server's settings by then. */
const REFUSED_WAIT_MS = 60_000
const LONGEST_REFUSED_WAIT_MS = 60 * 60_000
/** Errors that an immediate retry cannot fix. */
const REFUSALS = /^(NOPERM|NOAUTH|WRONGPASS|NOPROTO|ERR(?! max number of clients))/

interface RedisWatchOptions extends RowJudges {
  readonly client: RedisClient
  readonly prefix: string
  readonly clock: ServerClock
  readonly deadlineMs: number
  /** Whether to track changes. False: never. True: even if there may be a proxy in front of the server. */
  readonly tracking: boolean | undefined
}

/**
 * Remembers rows that are read on a second connection to the same server as the application's client.
 *
 * The first request whose session store uses that client opens the connection. The connection is not used until the
 * server has proved everything that the watch relies on. An unsuitable server is never tried again. A server that
 * refuses a command or has too little room is tried again later.
 */
export class RedisWatch implements VerdictWatch {
  capacity = 20_000
  readonly #tracking: Tracking
  readonly #deadlineMs: number
  readonly #restart = () => {
    this.#restarts++
    this.#connection?.end()
  }
  #refusal: string | undefined
  #connection: TrackedConnection | undefined
  #opening: Promise<void> | undefined
  #trouble: string | undefined
  #failures = 0
  #refusals = 0
  #notBefore = 0
  #isListening = false
  #restarts = 0

  constructor({ client, deadlineMs, tracking, ...parts }: RedisWatchOptions) {
    this.#tracking = { ...parts, client: client as TrackableClient, isVouchedFor: tracking === true }
    this.#deadlineMs = deadlineMs
    this.#refusal = tracking === false ? 'the "tracking" option is false' : whyNotTrackable(client as TrackableClient)
  }

  reading<Store extends object>(store: Store): Store | undefined {
    if (this.#refusal !== undefined || !this.#canRead(store)) return undefined
    const connection = this.#connection
    if (!connection || connection.isOver || !this.#tracking.client.isReady) {
      if (performance.now() >= this.#notBefore) void this.#open()
      return undefined
    }
    return connection.viewOf(store)
  }

  #canRead({ client }: { client?: unknown }): boolean {
    return client === this.#tracking.client || client === ANY_CLIENT
  }

  begin(session: WatchedSession): number {
    const connection = this.#connection
    if (!connection) return Number.POSITIVE_INFINITY
    connection.keepTime()
    if (!connection.rows.knows(session)) connection.rows.learn(session)
    return connection.sent + 1
  }

  isLive(session: WatchedSession, begun: number): boolean {
    const connection = this.#connection
    return connection !== undefined && connection.answered >= begun && connection.rows.knows(session)
  }

  drop(): void {
    this.#notBefore = performance.now() + HANG_WAIT_MS
    this.#connection?.end()
  }

  async whyNot(store?: object): Promise<string | undefined> {
    if (this.#refusal !== undefined) return this.#refusal
    if (store && !this.#canRead(store)) {
      return 'the session store uses a different client from redisStore(), or does not expose it as its "client" property'
    }
    const isRefused = this.#refusals > 0 && performance.now() < this.#notBefore
    if (!isRefused && (!this.#connection || this.#connection.isOver)) {
      await this.#untilReady()
      await this.#open()
    }
    const isUsed = this.#connection !== undefined && !this.#connection.isOver
    return this.#refusal ?? (isUsed ? undefined : (this.#trouble ?? 'the connection was lost'))
  }

  /** Waits until the client is ready, up to the deadline. */
  async #untilReady(): Promise<void> {
    const { client } = this.#tracking
    if (client.isReady) return
    let ready = () => {}
    const waiting = new Promise<void>((resolve) => {
      ready = resolve
    })
    client.on('ready', ready)
    await withDeadline(waiting, this.#deadlineMs, () => new Error()).catch(() => {})
    client.off('ready', ready)
  }

  #open(): Promise<void> {
    this.#opening ??= this.#tryToOpen().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #tryToOpen(): Promise<void> {
    // Wait longer after each failure.
    this.#notBefore = performance.now() + Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures++)
    const { client } = this.#tracking
    if (!client.isReady) {
      this.#trouble = 'the client is not connected'
      return
    }
    if (!this.#isListening) {
      this.#isListening = true
      // After a reconnect, the client may be connected to another server.
      client.on('ready', this.#restart)
    }
    const restarts = this.#restarts
    let connection: TrackedConnection | undefined
    try {
      // Loaded on demand: many applications import the store but have nothing to watch.
      const tracked = await import('./tracked-connection.ts')
      connection = new tracked.TrackedConnection(this.#tracking, this.capacity)
      await withDeadline(connection.open(), this.#deadlineMs, () => new Error('The server did not respond in time.'))
      this.#connection = connection
      this.#failures = 0
      this.#refusals = 0
      this.#trouble = undefined
      // In the meantime, the limiter may have been closed, or the client may have reconnected.
      if (this.#refusal !== undefined || this.#restarts !== restarts) connection.end()
    } catch (error) {
      connection?.end()
      const { message } = withoutArguments(error)
      this.#trouble = message
      if (error instanceof NotBelievable) this.#giveUp(message)
      else if (error instanceof TooLittleRoom || REFUSALS.test(message)) this.#waitLonger(message)
    }
  }

  #waitLonger(reason: string): void {
    const wait = Math.min(LONGEST_REFUSED_WAIT_MS, REFUSED_WAIT_MS * 2 ** this.#refusals++)
    this.#notBefore = performance.now() + wait
    this.#trouble = `${reason}; each process tries again after a minute, and then less often`
  }

  #giveUp(reason: string): void {
    this.#refusal = reason
    if (this.#isListening) this.#tracking.client.off('ready', this.#restart)
    this.#isListening = false
  }

  /** Closes the connection and never opens another. */
  close(): void {
    this.#giveUp('the limiter is closed')
    this.#connection?.end()
  }
}
