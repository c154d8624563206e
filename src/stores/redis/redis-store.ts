import { invalidOption } from '../../ground/invalid-option.ts'
import { consoleLogger, type Logger, safeLogger, warn } from '../../ground/logger.ts'
import { requireOptions, requireWhole } from '../../ground/option-checks.ts'
import { storeOf } from '../document/document-store.ts'
import type { SessmgrStore, SignalListener, StoreSignals } from '../store.ts'
import { canReplicate, RedisCalls, redisScript, THE_SERVER, withoutArguments } from './redis-calls.ts'
import type { RedisClient, RedisSubscriber } from './redis-client.ts'
import { RedisDriver } from './redis-driver.ts'
import { RedisPeopleIndex } from './redis-people-index.ts'
import { ServerClock } from './server-clock.ts'
import { RedisWatch } from './watch/redis-watch.ts'

/** Options of redisStore(). Omitted and undefined options use their defaults. */
export interface RedisStoreOptions {
  /**
   * A connected client, pool, sentinel or cluster from node-redis 5 or 6, or ioredis wrapped in `fromIoredis`.
   *
   * You close it.
   *
   * @see docs/stores.md#kinds-of-client
   */
  client: RedisClient
  /**
   * Prefix of all keys, without braces.
   *
   * @default 'sessmgr:'
   */
  prefix?: string | undefined
  /**
   * Milliseconds that a call may take, from 10 to 60,000.
   *
   * @default 2000
   */
  deadlineMs?: number | undefined
  /**
   * When the end of a session or a site-wide logout counts as done: once the primary has it, or a `'replica'` as well.
   *
   * With `'replica'`, ended sessions stay ended after a failover to that replica, unless a login ended them. Waiting
   * occupies a connection, so pass a pool.
   *
   * @default 'master'
   * @see docs/stores.md#durability
   */
  durability?: 'master' | 'replica' | undefined
  /**
   * Whether Redis pushes changes over a second connection, so that requests need not ask whether their session is live.
   *
   * Undefined: only if Redis is known to support it. True: even if there may be a proxy. False: never. `sessmgr doctor`
   * shows the result.
   *
   * @default automatic
   * @see docs/stores.md#tracking
   */
  tracking?: boolean | undefined
  /**
   * A connected client that receives the messages of other processes, for `sessmgr/live`.
   *
   * @default a duplicate of `client`
   * @see docs/live.md#messages-between-processes
   */
  subscriber?: RedisSubscriber | undefined
  /** Receives warnings. @default the console */
  logger?: Logger | undefined
}

const OPTIONS = ['client', 'prefix', 'deadlineMs', 'durability', 'tracking', 'subscriber', 'logger']

/**
 * Creates a store in Redis or Valkey, for any number of processes and machines.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * app.use(sessmgr({ store: redisStore({ client }) }))
 */
export function redisStore(options: RedisStoreOptions): SessmgrStore {
  checkOptions(options)
  const { client, prefix = 'sessmgr:', deadlineMs = 2000, durability = 'master', tracking, subscriber } = options
  const { logger = consoleLogger } = options
  const calls = new RedisCalls(client, deadlineMs)
  const clock = new ServerClock()
  const signals = new RedisSignals(calls, client, `${prefix}ended`, subscriber)
  const replicaMs = durability === 'replica' ? Math.ceil(deadlineMs / 2) : undefined
  const own = safeLogger(logger)
  const report = () => evictionReport(calls, `${prefix}epoch`)
  const driver = new RedisDriver({
    client,
    calls,
    prefix,
    clock,
    signals,
    replicaMs,
    onFirstUse: () => warnOfEviction(report, own),
  })
  const store = storeOf(driver, { deadlineMs, what: THE_SERVER, prefix, tidy: withoutArguments }, own)
  const { sessions, epoch } = store
  const watch = new RedisWatch({ client, prefix, clock, sessions, epoch, deadlineMs, tracking })
  return {
    ...store,
    name: 'redis',
    watch,
    // With its own deadline, so that a hanging index does not make the store count as unresponsive.
    people: new RedisPeopleIndex(new RedisCalls(client, deadlineMs), prefix),
    holdsAll: holdsAll(client, calls),
    sharesClient: (sessionStore: PrefixedStore) => sessionStore.client === client,
    report: async () => [await report()],
    async close() {
      watch.close()
      await store.close()
      await signals.close()
    },
  }
}

/** A session store that exposes its client and key prefix, as connect-redis does. */
interface PrefixedStore {
  readonly client?: unknown
  readonly prefix?: unknown
}

/** Returns a function that checks many sessions with one EXISTS, if their session store uses this store's client. */
function holdsAll(client: RedisClient, calls: RedisCalls): NonNullable<SessmgrStore['holdsAll']> {
  return async (store, sessionIds) => {
    const prefix = prefixIn(client, store)
    if (prefix === undefined) return false
    const keys = sessionIds.map((id) => prefix + id)
    return Number(await calls.tryAsk((each) => each.exists?.(keys))) === keys.length
  }
}

function prefixIn(client: RedisClient, store: PrefixedStore): string | undefined {
  // In a cluster, the keys are in many slots, which no single command can use.
  return store.client === client && typeof store.prefix === 'string' && !('masters' in client)
    ? store.prefix
    : undefined
}

const INFO = redisScript("return redis.call('INFO', 'memory')")

/** Reports whether Redis may evict keys. Runs INFO in a script, because every kind of client can run scripts. */
async function evictionReport(calls: RedisCalls, key: string): Promise<string | { readonly danger: string }> {
  const info = await calls.run(INFO, key).catch(() => '')
  const policy = /^maxmemory_policy:(\S+)/m.exec(String(info))?.[1]
  if (policy === 'noeviction') return 'Redis evicts no keys (maxmemory-policy noeviction).'
  const fix = 'Set maxmemory-policy to noeviction.'
  if (policy === undefined) {
    return `The maxmemory-policy of Redis is unknown, because this user may not run INFO. ${fix}`
  }
  const effect = 'signs them out, and may make ended sessions valid again'
  return { danger: `Redis may evict all that is stored of users, which ${effect} (maxmemory-policy ${policy}). ${fix}` }
}

/** Warns at the start of a process if Redis may evict keys. */
async function warnOfEviction(report: () => ReturnType<typeof evictionReport>, logger: Logger): Promise<void> {
  const found = await report()
  if (typeof found !== 'string') warn(logger, 'redis-may-evict', found.danger)
}

function checkOptions(options: RedisStoreOptions): void {
  if ('evalSha' in Object(options) || 'evalsha' in Object(options)) {
    throw invalidOption('Pass the client as an option: redisStore({ client }), not redisStore(client)')
  }
  requireOptions('redisStore', options ?? {}, OPTIONS, { url: 'client', host: 'client', redis: 'client' })
  const { client, prefix, deadlineMs, durability, tracking, subscriber } = options ?? {}
  if (client === undefined || client === null) {
    throw invalidOption('"client" is missing. Pass a connected client from the redis package: redisStore({ client })')
  }
  for (const method of ['evalSha', 'eval', 'get'] as const) {
    if (typeof client[method] === 'function') continue
    throw invalidOption(
      `"client" has no ${method}(). Pass a client from the redis package, version 5 or newer, or wrap an ioredis client: ` +
        'redisStore({ client: fromIoredis(client) })',
    )
  }
  if ('clientSideCache' in client && client.clientSideCache) {
    throw invalidOption(
      '"client" uses clientSideCache, and its cache may report an ended session as live. Give ' +
        'both redisStore() and the session store a client without that option',
    )
  }
  if (prefix !== undefined && (typeof prefix !== 'string' || prefix === '' || /[{}]/.test(prefix))) {
    throw invalidOption('"prefix" must be a non-empty string without braces, which would change the cluster slot')
  }
  if (deadlineMs !== undefined) requireWhole('deadlineMs', deadlineMs, 10, 60_000)
  if (tracking !== undefined && typeof tracking !== 'boolean') {
    throw invalidOption(`"tracking" must be true or false; got ${String(tracking)}`)
  }
  if (subscriber !== undefined && typeof subscriber?.subscribe !== 'function') {
    throw invalidOption('"subscriber" must be a connected client from the redis package, only for subscriptions')
  }
  if (durability !== undefined && durability !== 'master' && durability !== 'replica') {
    throw invalidOption(`"durability" must be 'master' or 'replica'; got ${String(durability)}`)
  }
  if (durability === 'replica' && !canReplicate(client)) {
    throw invalidOption('"durability: \'replica\'" needs a client with wait(), so that it can wait for a replica')
  }
}

/** Passes messages between processes with PUBLISH and SUBSCRIBE. */
class RedisSignals implements StoreSignals {
  readonly #calls: RedisCalls
  readonly #client: RedisClient
  readonly #channel: string
  readonly #given: RedisSubscriber | undefined
  readonly #open = new Set<() => Promise<void>>()

  /** @param given The application's own client for subscriptions. */
  constructor(calls: RedisCalls, client: RedisClient, channel: string, given: RedisSubscriber | undefined) {
    this.#calls = calls
    this.#client = client
    this.#channel = channel
    this.#given = given
  }

  async publish(message: string): Promise<void> {
    await this.#calls.ask(async (client) => client.publish?.(this.#channel, message))
  }

  async subscribe({ heard, missed }: SignalListener): Promise<() => Promise<void>> {
    const shared = this.#given ?? sharedSubscriber(this.#client)
    const own = shared ?? (await ownSubscriber(this.#client))
    const hear = (message: unknown) => {
      // A closed client may still pass on messages that it had received before.
      if (this.#open.has(stop)) heard(String(message))
    }
    let connections = 0
    const connected = () => void (connections++ > 0 && missed())
    own.on?.('ready', connected)
    const stop = async () => {
      if (!this.#open.delete(stop)) return
      own.off?.('ready', connected)
      if (shared) await own.unsubscribe?.(this.#channel, hear)
      else await (own.destroy ? own.destroy() : own.disconnect?.())
    }
    this.#open.add(stop)
    try {
      if (shared) connections = 1
      else await own.connect?.()
      await own.subscribe(this.#channel, hear)
    } catch (error) {
      await stop().catch(() => {})
      throw error
    }
    return stop
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#open].map((stop) => stop()))
  }
}

/** Returns the client itself if it is a cluster or a sentinel, which opens its own connection for subscriptions. */
function sharedSubscriber(client: RedisClient): RedisSubscriber | undefined {
  const isNetwork = 'masters' in client || client.use !== undefined
  return isNetwork && typeof (client as Partial<RedisSubscriber>).subscribe === 'function'
    ? (client as unknown as RedisSubscriber)
    : undefined
}

/** Creates a client like the given one, only for subscriptions. */
async function ownSubscriber(client: RedisClient): Promise<RedisSubscriber> {
  const duplicate = (one: Pick<RedisClient, 'duplicate'>) => one.duplicate?.({ clientSideCache: undefined })
  const own = client.execute ? await client.execute(async (connection) => duplicate(connection)) : duplicate(client)
  if (!own) throw new Error('This Redis client cannot be duplicated. Set "subscriber".')
  const subscriber = own as RedisSubscriber
  // The client reconnects by itself, but without a listener, an error would crash the process.
  subscriber.on?.('error', () => {})
  return subscriber
}
