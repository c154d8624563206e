import type { SignalListener, StoreSignals } from '../store-signals.ts'

/** Pause before connecting again after the connection was lost. */
const RETRY_MS = 1000
/** PostgreSQL cuts longer names. */
const LONGEST_NAME = 63

/** The methods of a pool that are needed. A wrapper of a pool may have no `connect`. */
interface SignalPool {
  query(text: string, values: unknown[]): PromiseLike<unknown>
  connect?(): PromiseLike<unknown>
}

/** A client that was taken from a pool. */
interface PoolClient {
  query(text: string): PromiseLike<unknown>
  on(event: string, listener: (argument: { readonly payload?: string }) => void): unknown
  release(isBroken: boolean): void
}

/** Passes messages with NOTIFY and LISTEN. A subscription takes one client from the pool. */
export class PostgresSignals implements StoreSignals {
  readonly #pool: SignalPool
  readonly #channel: string
  readonly #open = new Set<() => Promise<void>>()

  constructor(pool: SignalPool, table: string) {
    this.#pool = pool
    this.#channel = `sessmgr_${table.replaceAll('"', '')}`.slice(0, LONGEST_NAME)
  }

  async publish(message: string): Promise<void> {
    await this.#pool.query('SELECT pg_notify($1, $2)', [this.#channel, message])
  }

  async subscribe({ heard, missed }: SignalListener): Promise<() => Promise<void>> {
    let release: (() => void) | undefined
    let isOver = false
    const listen = async () => {
      const opened = await this.#listen(heard, () => {
        release = undefined
        if (!isOver) retryLater()
      })
      if (isOver) opened()
      else release = opened
    }
    const retryLater = () => {
      setTimeout(() => {
        if (!isOver) listen().then(missed, retryLater)
      }, RETRY_MS).unref()
    }
    await listen()
    const stop = async () => {
      this.#open.delete(stop)
      isOver = true
      release?.()
    }
    this.#open.add(stop)
    return stop
  }

  /** @param lost Called once if the connection is lost. */
  async #listen(heard: (message: string) => void, lost: () => void): Promise<() => void> {
    if (typeof this.#pool.connect !== 'function') throw new Error('This pool has no connect().')
    const client = (await this.#pool.connect()) as PoolClient
    let isReleased = false
    const release = () => {
      if (isReleased) return false
      isReleased = true
      // Closes the connection: another user of this client should receive no messages.
      client.release(true)
      return true
    }
    for (const event of ['error', 'end']) client.on(event, () => void (release() && lost()))
    client.on('notification', ({ payload = '' }) => void (isReleased || heard(payload)))
    try {
      await client.query(`LISTEN "${this.#channel}"`)
    } catch (error) {
      release()
      throw error
    }
    return release
  }

  /** Ends all subscriptions, because a pool waits for its clients when it ends. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((stop) => stop()))
  }
}
