import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { DocumentRow } from '../../document/document-driver.ts'
import { rowKey } from '../../document/document-rows.ts'
import { EPOCH_KEY } from '../../document/document-values.ts'
import { type ReportedReads, RowCache, type RowJudges } from '../../document/row-cache.ts'
import { keyPrefixOf } from '../redis-client.ts'
import { rowIn } from '../redis-driver.ts'
import type { ServerClock } from '../server-clock.ts'
import {
  NotBelievable,
  type SocketOptions,
  TooLittleRoom,
  type TrackableClient,
  trackingClient,
} from './trackable-client.ts'

const CANARY_MS = 60_000
/** Recorded in place of a key when Redis reports that all keys have changed. */
const EVERYTHING = ''

/** What a connection needs in order to open. */
export interface Tracking extends RowJudges {
  /** The application's own client. */
  readonly client: TrackableClient
  /** Prefix of the keys of rows. */
  readonly prefix: string
  readonly clock: ServerClock
  readonly isVouchedFor: boolean
}

/**
 * One connection on which Redis reports changes. It is opened once and never reopened.
 *
 * Redis remembers every key that this connection reads right after `CLIENT CACHING YES`. When such a key changes, Redis
 * sends a push, in order with the replies.
 */
export class TrackedConnection implements ReportedReads {
  /** How many session reads have been sent so far. */
  sent = 0
  /** Number of the latest session read that was answered. */
  answered = 0
  isOver = false
  /** The `client` of the views of session stores. */
  readonly #reader: TrackableClient
  readonly #views = new WeakMap<object, object>()
  readonly #own: TrackableClient
  readonly #tracking: Tracking
  /** The rows that were read on this connection and have not changed since. */
  readonly rows: RowCache
  /** Prefix of the keys of rows, as Redis reports them. */
  readonly #prefix: string
  /** Keys reported as changed while the connection is being opened. Undefined afterwards. */
  #told: Set<string> | undefined = new Set()

  /** @param capacity How many rows to remember at most. */
  constructor(tracking: Tracking, capacity: number) {
    this.#tracking = tracking
    const own = trackingClient(tracking.client)
    this.#own = own
    for (const event of ['error', 'end', 'reconnecting', 'terminated']) own.on(event, () => this.end())
    this.rows = new RowCache(this, tracking, capacity)
    this.#prefix = keyPrefixOf(own) + tracking.prefix
    own.on('invalidate', (key) => this.#changed(key))
    const get = (...args: [string]) => this.#readSession(args)
    this.#reader = Object.create(own, { get: { value: get } }) as TrackableClient
  }

  /**
   * Connects and checks the server.
   *
   * @throws NotBelievable, TooLittleRoom, or the client's error if the server is down.
   */
  async open(): Promise<void> {
    const own = this.#own
    own.unref()
    const ownAddress = await connectedFrom(() => own.connect(), own.options?.socket)
    const [info, clientInfo, infoOfClient] = await Promise.all([
      own.sendCommand(['INFO', 'server']),
      own.sendCommand(['CLIENT', 'INFO']),
      this.#tracking.client.sendCommand(['INFO', 'server']),
    ])
    const signs = { info: String(info), clientInfo: String(clientInfo), ownAddress }
    const problem = whyNotBelievable(signs, this.#tracking.isVouchedFor)
    if (problem !== undefined) throw new NotBelievable(problem)
    // A host name may resolve to the primary at first and to a lagging replica the next time. A retry may reach the
    // same server.
    if (runOf(info) !== runOf(infoOfClient)) throw new Error('the two connections lead to different servers')
    await own.sendCommand(['CLIENT', 'TRACKING', 'ON', 'OPTIN'])
    await this.#tryCanary(this.#told as Set<string>)
    this.#told = undefined
    await this.#askTime()
    if (this.isOver) throw new Error('The connection was closed.')
  }

  /**
   * Checks that the keys that requests use can be read and are tracked. Also checks that a change made on the
   * application's connection is pushed before any later reply on this one.
   */
  async #tryCanary(told: ReadonlySet<string>): Promise<void> {
    const own = this.#own
    const { client } = this.#tracking
    const [epoch, name] = [this.#prefix + EPOCH_KEY, randomUUID()]
    const key = `${epoch}:canary:${name}`
    const user = this.#prefix + rowKey('user', name)
    const read = (...command: readonly string[]) => [
      own.sendCommand(['CLIENT', 'CACHING', 'YES']),
      own.sendCommand(command),
    ]
    await Promise.all([...read('GET', user), ...read('GET', epoch), ...read('GET', key)])
    await own.sendCommand(['GET', key])
    if (told.has(user) || told.has(key)) {
      throw new TooLittleRoom(
        'the server immediately forgets the keys it should watch: its tracking-table-max-keys is too small',
      )
    }
    const write = (lifeMs: number) => client.sendCommand(['SET', key, '1', 'PX', String(lifeMs)])
    await write(CANARY_MS)
    const found = await own.sendCommand(['GET', key])
    const isTold = told.has(key)
    // Let the key expire, because deleting it would require another permission.
    await write(1)
    if (told.has(EVERYTHING)) throw new Error('All data in Redis was deleted in the meantime.')
    if (String(found) !== '1') throw new NotBelievable('the two connections lead to different databases')
    if (!isTold) throw new NotBelievable('a change was not reported before the next reply')
  }

  #changed(key: unknown): void {
    const name = String(key ?? EVERYTHING)
    this.#told?.add(name)
    if (name === EVERYTHING) this.rows.forgetAll()
    else if (name.startsWith(this.#prefix)) this.rows.forget(name.slice(this.#prefix.length))
  }

  /** Reads a row and lets Redis track it. The reply counts only if Redis has confirmed that it tracks the key. */
  read(key: string, note: (row: DocumentRow | undefined) => void, failed = () => {}): void {
    let isTracked = false
    this.#own.sendCommand(['CLIENT', 'CACHING', 'YES']).then(
      () => {
        isTracked = true
      },
      () => this.end(),
    )
    this.#own
      .get(this.#tracking.prefix + key)
      .then((value) => (isTracked ? note(rowIn(value)) : failed()))
      .catch(failed)
  }

  /** Reads the server's time. */
  async #askTime(): Promise<void> {
    const sentAt = performance.now()
    const [seconds, micros] = (await this.#own.sendCommand(['TIME'])) as [string, string]
    this.#tracking.clock.learn(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000), sentAt)
  }

  /**
   * Reads the time if it is due, because requests with watched sessions never read it. Also checks that tracking is
   * still on.
   */
  keepTime(): void {
    if (!this.#tracking.clock.isDue()) return
    // Redis refuses this command if tracking is off.
    this.#own.sendCommand(['CLIENT', 'CACHING', 'YES']).catch(() => this.end())
    this.#askTime().catch(() => {})
  }

  /** Returns a session store that reads on this connection and otherwise behaves like the given one. */
  viewOf<Store extends object>(store: Store): Store {
    let view = this.#views.get(store) as Store | undefined
    if (!view) {
      view = Object.create(store, { client: { value: this.#reader } }) as Store
      this.#views.set(store, view)
    }
    return view
  }

  /**
   * Reads a session. Replies arrive in the order of the commands, so each reply shows that all earlier ones have
   * arrived.
   */
  async #readSession(args: [string]): Promise<unknown> {
    const number = ++this.sent
    const value = await this.#own.get(...args)
    // A failure proves nothing, because the command may never have been sent.
    if (number > this.answered) this.answered = number
    return value
  }

  /** Closes the connection and discards everything learned on it. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.rows.forgetAll()
    try {
      this.#own.destroy()
    } catch {
      // It is already closed.
    }
  }
}

/** Returns the server's run id from a reply to `INFO server`. */
const runOf = (info: unknown) => /^run_id:(\S+)/m.exec(String(info))?.[1]

const OLDEST: readonly [number, number] = [6, 2]

/** What a server and its socket report about themselves. */
interface ServerSigns {
  /** The reply to `INFO server`. */
  readonly info: string
  /** The reply to `CLIENT INFO`. */
  readonly clientInfo: string
  /** The local address of the connection, as Redis writes it; undefined if unknown. */
  readonly ownAddress: string | undefined
}

/**
 * Returns why a server cannot be trusted to push each change before any later reply, or undefined if it can.
 *
 * Redis and Valkey can be trusted: one thread runs all commands and appends pushes and replies to one buffer. Servers
 * that only share their protocol may spread keys over threads or machines.
 *
 * @param isVouchedFor Whether the application guarantees that there is no proxy in front of the server.
 */
export function whyNotBelievable(
  { info, clientInfo, ownAddress }: ServerSigns,
  isVouchedFor: boolean,
): string | undefined {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\s*$`, 'm').exec(info)?.[1]
  const version = field('valkey_version') ?? field('redis_version')
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  if (version === undefined || /dragonfly|keydb|kvrocks|rlec|godis/i.test(info))
    return 'the server is neither Redis nor Valkey'
  if (!(major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))) {
    return `the server has version ${version}, but only ${OLDEST.join('.')} and newer report every change`
  }
  if ((field('server_mode') ?? field('redis_mode')) !== 'standalone')
    return 'the server is a sentinel or part of a cluster'
  const isGenuine = /^(epoll|kqueue|evport|select|poll)$/.test(field('multiplexing_api') ?? '')
  // Redis 6.2 does not report its clock yet.
  if (!isGenuine || !field('executable') || (major > 6 && !field('monotonic_clock'))) {
    return 'the server does not describe itself as Redis and Valkey do, so it may be a proxy or another product'
  }
  if (isVouchedFor) return undefined
  const seen = /(?:^| )addr=(\S+)/.exec(clientInfo)?.[1]
  if (ownAddress === undefined) {
    return 'the local address of the connection is unknown, as always with TLS, so there may be a proxy in front of the server; set tracking: true if there is none'
  }
  if (seen !== ownAddress) {
    return 'the server sees a different client address, so there may be a proxy in front of it; set tracking: true if there is none'
  }
  return undefined
}

const SOCKETS = 'net.client.socket'

/**
 * Connects, and returns the local address of the connection in Redis's notation, or undefined if it is unknown.
 *
 * Node exposes TCP sockets when they are created, but not TLS sockets.
 *
 * @param connect Creates the socket synchronously.
 */
export async function connectedFrom(
  connect: () => Promise<unknown>,
  options: SocketOptions | undefined,
): Promise<string | undefined> {
  let socket: Socket | undefined
  const note = (message: unknown) => {
    socket ??= (message as { socket: Socket }).socket
  }
  subscribe(SOCKETS, note)
  let connecting: Promise<unknown>
  try {
    connecting = connect()
  } finally {
    unsubscribe(SOCKETS, note)
  }
  await connecting
  if (options?.path !== undefined) return `${options.path}:0`
  const { localAddress, localPort } = socket ?? {}
  if (localAddress === undefined) return undefined
  return localAddress.includes(':') ? `[${localAddress}]:${localPort}` : `${localAddress}:${localPort}`
}
