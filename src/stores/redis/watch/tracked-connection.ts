import { randomUUID } from 'node:crypto'
import type { WatchedSession } from '../../verdict-watch.ts'
import type { Keys } from '../keys.ts'
import type { ServerClock } from '../registry/server-clock.ts'
import { whyNotBelievable } from './believable-server.ts'
import { connectedFrom } from './own-address.ts'
import { SessionFollower } from './session-follower.ts'
import { keyPrefixOf, NotBelievable, type TrackableClient, trackingClient } from './trackable-client.ts'

const CANARY_MS = 60_000
/** What is told in place of a key when all of them have changed. */
const EVERYTHING = ''

/** What a connection is opened with. */
export interface Tracking {
  /** The application's own client. */
  readonly client: TrackableClient
  readonly keys: Keys
  readonly clock: ServerClock
  readonly isVouchedFor: boolean
}

/**
 * One connection over which Redis tells of changes, from its opening to its end. It is never opened again.
 *
 * Redis remembers, for this connection, every key that a read after `CLIENT CACHING YES` has touched, and sends a push when
 * the key changes, in one order with the replies.
 */
export class TrackedConnection {
  /** The number of the last reading of a session that was sent, and of the last that was answered. */
  sent = 0
  answered = 0
  isOver = false
  /** Stands in for the client of a session store. */
  readonly #reader: TrackableClient
  readonly #views = new WeakMap<object, object>()
  readonly #own: TrackableClient
  readonly #tracking: Tracking
  readonly #follower: SessionFollower
  /** What was told while the connection was opened. */
  #told: Set<string> | undefined = new Set()

  constructor(tracking: Tracking) {
    this.#tracking = tracking
    const own = trackingClient(tracking.client)
    this.#own = own
    for (const event of ['error', 'end', 'reconnecting', 'terminated']) own.on(event, () => this.end())
    this.#follower = new SessionFollower(own, tracking, () => this.end())
    own.on('invalidate', (key) => this.#changed(key))
    const get = (...args: [string]) => this.#read(args)
    this.#reader = Object.create(own, { get: { value: get } }) as TrackableClient
  }

  /** @throws NotBelievable; and what the client throws when the server is away. */
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
    // A name may lead to the primary once and to a replica, which lags, the next time; the next try may find the same.
    if (runOf(info) !== runOf(infoOfClient)) throw new Error('the two connections lead to different servers')
    await own.sendCommand(['CLIENT', 'TRACKING', 'ON', 'OPTIN'])
    await this.#tryCanary(this.#told as Set<string>)
    this.#told = undefined
    await this.#askTime()
    if (this.isOver) throw new Error('The connection was closed.')
  }

  /**
   * Shows that what requests read may be read and is kept in mind, and that a change which the application's own
   * connection makes is told before a later reply on this one.
   */
  async #tryCanary(told: ReadonlySet<string>): Promise<void> {
    const own = this.#own
    const { keys, client } = this.#tracking
    const [prefix, name] = [keyPrefixOf(own), randomUUID()]
    const key = `${prefix}${keys.epoch}:canary:${name}`
    const user = prefix + keys.sessions(name)
    const read = (...command: readonly string[]) => [
      own.sendCommand(['CLIENT', 'CACHING', 'YES']),
      own.sendCommand(command),
    ]
    await Promise.all([...read('HGET', user, name), ...read('GET', prefix + keys.epoch), ...read('GET', key)])
    await own.sendCommand(['GET', key])
    if (told.has(user) || told.has(key)) {
      throw new NotBelievable(
        'the server forgets at once what it should watch: its tracking-table-max-keys is too small',
      )
    }
    const write = (lifeMs: number) => client.sendCommand(['SET', key, '1', 'PX', String(lifeMs)])
    await write(CANARY_MS)
    const found = await own.sendCommand(['GET', key])
    const isTold = told.has(key)
    // To delete it would take one right more.
    await write(1)
    if (told.has(EVERYTHING)) throw new Error('Everything in Redis was deleted meanwhile.')
    if (String(found) !== '1') throw new NotBelievable('the two connections lead to different databases')
    if (!isTold) throw new NotBelievable('a change was not told before the next reply')
  }

  #changed(key: unknown): void {
    this.#told?.add(String(key ?? EVERYTHING))
    this.#follower.changed(key)
  }

  /** Learns whether a session is live, and follows it from then on. */
  follow(session: WatchedSession): void {
    this.#follower.follow(session)
  }

  /** Asks what time it is at the server. */
  async #askTime(): Promise<void> {
    const sentAt = performance.now()
    const [seconds, micros] = (await this.#own.sendCommand(['TIME'])) as [string, string]
    this.#tracking.clock.learn(Number(seconds) * 1000 + Math.floor(Number(micros) / 1000), sentAt)
  }

  /** Asks for the time when it is due, which requests that ask nothing else do not learn, and whether changes are told. */
  keepTime(): void {
    if (!this.#tracking.clock.isDue()) return
    // It is refused where they are not.
    this.#own.sendCommand(['CLIENT', 'CACHING', 'YES']).catch(() => this.end())
    this.#askTime().catch(() => {})
  }

  /** Returns a session store that reads over this connection, and is otherwise the one given. */
  viewOf<Store extends object>(store: Store): Store {
    let view = this.#views.get(store) as Store | undefined
    if (!view) {
      view = Object.create(store, { client: { value: this.#reader } }) as Store
      this.#views.set(store, view)
    }
    return view
  }

  /** Replies come in the order of the commands: one of them shows that all before it have come. */
  async #read(args: [string]): Promise<unknown> {
    const number = ++this.sent
    const value = await this.#own.get(...args)
    // A failure shows nothing: it may be that the command was never sent.
    if (number > this.answered) this.answered = number
    return value
  }

  /** Ends the connection, and with it all that is known by it. */
  end(): void {
    if (this.isOver) return
    this.isOver = true
    this.#follower.forget()
    try {
      this.#own.destroy()
    } catch {
      // It is closed already.
    }
  }
}

/** Which run of which server an `INFO server` is of. */
const runOf = (info: unknown) => /^run_id:(\S+)/m.exec(String(info))?.[1]
