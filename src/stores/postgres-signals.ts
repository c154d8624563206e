import { invalidOption } from '../ground/invalid-option.ts'
import type { SignalListener, StoreSignals } from './store.ts'

/** Pause before connecting again after the connection was lost. */
const RETRY_MS = 1000
/** PostgreSQL truncates longer names. */
const LONGEST_NAME = 63

/** The members of a pool that signals need. A wrapper of a pool may have no `connect`. */
interface SignalPool {
  query(text: string, values: unknown[]): PromiseLike<unknown>
  connect?(): PromiseLike<unknown>
  readonly options?: { readonly max?: unknown }
}

/** A client that was taken from a pool. */
interface PoolClient {
  query(text: string): PromiseLike<unknown>
  on(event: string, listener: (argument: { readonly payload?: string }) => void): unknown
  release(isBroken: boolean): void
}

/** How many clients of each pool listen. Several stores may share a pool. */
const listeners = new WeakMap<SignalPool, number>()

/**
 * Reserves one client of a pool for listening. Returns a function that ends the reservation.
 *
 * @throws SessmgrError `invalid_option` if no client would be left for statements.
 */
function reserveClient(pool: SignalPool): () => void {
  const taken = listeners.get(pool) ?? 0
  if (taken + 1 >= Number(pool.options?.max)) {
    const cure = `Set its "max" to ${taken + 2} or more`
    throw invalidOption(`The pool of postgresStore() has no client left for messages between processes. ${cure}`)
  }
  listeners.set(pool, taken + 1)
  let isGiven = false
  return () => {
    if (!isGiven) listeners.set(pool, (listeners.get(pool) ?? 1) - 1)
    isGiven = true
  }
}

/** Passes messages with NOTIFY and LISTEN. A subscription occupies one client of the pool. */
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

  /** @throws SessmgrError `invalid_option` if the subscription would occupy the last client of the pool. */
  async subscribe({ heard, missed }: SignalListener): Promise<() => Promise<void>> {
    const giveBack = reserveClient(this.#pool)
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
    try {
      await listen()
    } catch (error) {
      giveBack()
      throw error
    }
    const stop = async () => {
      this.#open.delete(stop)
      isOver = true
      release?.()
      giveBack()
    }
    this.#open.add(stop)
    return stop
  }

  /**
   * Listens on a client of the pool, and returns a function that stops listening. @param lost Called once if the
   * connection is lost.
   */
  async #listen(heard: (message: string) => void, lost: () => void): Promise<() => void> {
    if (typeof this.#pool.connect !== 'function') throw new Error('This pool has no connect().')
    const client = (await this.#pool.connect()) as PoolClient
    let isReleased = false
    const release = () => {
      if (isReleased) return false
      isReleased = true
      // Close the connection, so that no later user of this client receives messages.
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

  /** Ends all subscriptions, because ending a pool waits for its clients. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((stop) => stop()))
  }
}
