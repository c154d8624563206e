import type { SignalListener, StoreSignals } from '../store-signals.ts'
import type { RedisCalls } from './redis-calls.ts'
import type { RedisClient, RedisSubscriber } from './redis-client.ts'

/** Passes messages with PUBLISH and SUBSCRIBE. */
export class RedisSignals implements StoreSignals {
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
      // A client may still pass messages that it had received before it was closed.
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

/** Returns a cluster or a sentinel, which opens a connection of its own for subscriptions. */
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
  if (!own) throw new Error('This Redis client cannot be duplicated. Set the option "subscriber".')
  const subscriber = own as RedisSubscriber
  // It reconnects by itself. Without a listener, the process would crash.
  subscriber.on?.('error', () => {})
  return subscriber
}
