import { SessmgrError } from '../../ground/errors.ts'
import type { DocumentRow } from '../document/document-driver.ts'
import { unconfirmedWrite } from '../document/document-rows.ts'
import type { RowDriver, RowReply } from '../document/row-reads.ts'
import type { StoreSignals } from '../store.ts'
import readLua from './lua/read.lua'
import swapLua from './lua/swap.lua'
import { onOneConnection, type RedisCalls, redisScript, runScript } from './redis-calls.ts'
import { keyPrefixOf, type RedisClient } from './redis-client.ts'
import type { ServerClock } from './server-clock.ts'

const READ = redisScript(readLua)
const SWAP = redisScript(swapLua)

/** What a driver needs. */
interface RedisDriverOptions {
  readonly client: RedisClient
  /** Calls the same client with a deadline, for what is not part of a request. */
  readonly calls: RedisCalls
  readonly prefix: string
  readonly clock: ServerClock
  readonly signals: StoreSignals
  /** How many milliseconds to wait for a replica to confirm a durable write. If undefined, does not wait. */
  readonly replicaMs: number | undefined
  /** Called once, when the server has first replied. */
  onFirstUse?(): void
}

/** Stores each row as one string in Redis. No call uses several keys, so a cluster may keep each in any slot. */
export class RedisDriver implements RowDriver {
  readonly isPipelined = true
  readonly isReplicated: boolean
  readonly signals: StoreSignals
  readonly #client: RedisClient
  readonly #untimed: RedisClient | undefined
  readonly #calls: RedisCalls
  readonly #prefix: string
  readonly #clock: ServerClock
  readonly #replicaMs: number | undefined
  #onFirstUse: (() => void) | undefined

  constructor({ client, calls, prefix, clock, signals, replicaMs, onFirstUse }: RedisDriverOptions) {
    this.isReplicated = replicaMs !== undefined
    this.signals = signals
    this.#client = client
    this.#calls = calls
    this.#untimed = untimed(client)
    this.#prefix = prefix
    this.#clock = clock
    this.#replicaMs = replicaMs
    this.#onFirstUse = onFirstUse
  }

  /**
   * Returns the client, without its timer for each command while it is connected: the rows have their own deadline.
   * While it is not connected, only that timer removes a command from the client's queue.
   */
  get #ready(): RedisClient {
    const { isReady } = this.#client as { readonly isReady?: boolean }
    return isReady && this.#untimed ? this.#untimed : this.#client
  }

  async get(keys: readonly string[], exactly = false): Promise<RowReply> {
    const latest = this.#clock.latest()
    if (exactly || latest === undefined || this.#clock.isDue()) return this.#getExactly(keys)
    const client = this.#ready
    const found = await Promise.all(keys.map(async (key) => rowEntry(key, await client.get(this.#prefix + key))))
    return { now: this.#clock.earliest(), latest, rows: new Map(found.flat()) }
  }

  async #getExactly(keys: readonly string[]): Promise<RowReply> {
    const sentAt = performance.now()
    const client = this.#ready
    let now = Number.POSITIVE_INFINITY
    const read = async (key: string) => {
      const [time, value] = (await runScript(client, READ, this.#prefix + key)) as [number, unknown]
      now = Math.min(now, Number(time))
      return rowEntry(key, value)
    }
    // Without a key, only the time is asked for.
    const found = await Promise.all((keys.length > 0 ? keys : ['']).map(read))
    this.#clock.learn(now, sentAt)
    this.#onFirstUse?.()
    this.#onFirstUse = undefined
    return { now, rows: new Map(found.flat()) }
  }

  async swap(
    key: string,
    before: string | undefined,
    { revision, text }: DocumentRow,
    lifeMs: number | undefined,
    durably?: boolean,
  ): Promise<boolean> {
    const full = this.#prefix + key
    const args = [before ?? '', `${revision} ${text}`, lifeMs ?? '', durably ? 1 : '']
    const write = async (client: RedisClient) => Number(await runScript(client, SWAP, full, args)) === 1
    const waitMs = this.#replicaMs
    if (!durably || waitMs === undefined) return write(this.#ready)
    // WAIT covers only writes on its own connection.
    return onOneConnection(this.#client, full, async (connection) => {
      if (!connection.wait) throw new SessmgrError('invalid_option', 'This Redis client cannot WAIT for a replica.')
      const isWritten = await write(connection)
      if (isWritten && Number(await connection.wait(1, waitMs)) < 1) throw unconfirmedWrite()
      return isWritten
    })
  }

  /** Does nothing, because Redis itself removes expired rows. */
  async purge(): Promise<number> {
    return 0
  }

  /**
   * Deletes every row, on every primary of a cluster. Scans the whole key space, so it is meant only for uninstalling.
   *
   * Deletes the options first, because they contain the name of the registry, without which no process treats an
   * unregistered session as ended. Deletes them again at the end, because a running process may have created a new name.
   */
  async wipe(): Promise<void> {
    const nodes = await this.#calls.ask(nodesOf)
    for (const own of [OPTION, OWN, OPTION]) for (const node of nodes) await this.#wipeNode(node, own)
  }

  async #wipeNode(node: RedisClient, own: RegExp): Promise<void> {
    const { scan, del } = node
    // The client adds its own prefix to keys, but not to patterns.
    const ofClient = keyPrefixOf(node)
    const prefix = ofClient + this.#prefix
    if (!scan || !del) {
      throw new SessmgrError(
        'invalid_option',
        `This Redis client cannot list keys. Delete those that start with "${prefix}" by hand.`,
      )
    }
    // Escape glob characters in the prefix.
    const MATCH = `${prefix.replaceAll(/[\\*?[\]]/g, '\\$&')}*`
    let cursor = '0'
    do {
      const found = await this.#calls.ask(() => scan.call(node, cursor, { MATCH, COUNT: BATCH }))
      cursor = String(found.cursor)
      const keys = found.keys.filter((key) => own.test(String(key).slice(prefix.length)))
      await Promise.all(keys.map((key) => this.#calls.ask(() => del.call(node, String(key).slice(ofClient.length)))))
    } while (cursor !== '0')
  }
}

/** How long the names of a row's last writes may be; see lua/swap.lua. */
const MOST_NAME_CHARACTERS = 64
/** How many keys to list at once. */
const BATCH = 500
/** Matches the keys of rows and of the index of people, without the prefix. Others belong to the application. */
const OWN = /^([uotpg]:.*|epoch|\{people\}:(recent|most|sum))$/s
const OPTION = /^o:/

/** Returns clients of all primaries of a cluster, or the client itself if it is not a cluster. */
async function nodesOf(client: RedisClient): Promise<readonly RedisClient[]> {
  const lend = async (master: unknown) => (await client.nodeClient?.(master as never)) as RedisClient
  return client.masters ? Promise.all(client.masters.map(lend)) : [client]
}

/** Splits a stored string into the names of its last writes and its text. A string written by hand has no names. */
export function rowIn(value: unknown): DocumentRow | undefined {
  if (value === null || value === undefined) return undefined
  const string = String(value)
  const space = string.indexOf(' ')
  const hasNames = space > 0 && space <= MOST_NAME_CHARACTERS
  return hasNames ? { revision: string.slice(0, space), text: string.slice(space + 1) } : { revision: '', text: string }
}

function rowEntry(key: string, value: unknown): readonly (readonly [string, DocumentRow])[] {
  const row = rowIn(value)
  return row ? [[key, row]] : []
}

/** A node-redis client, whose commands can have other options. */
interface Adjustable extends RedisClient {
  withCommandOptions?(options: object): RedisClient
}

/** Returns a client without a timer for each command. Undefined for a client of many connections, some of which may be lost. */
function untimed(client: Adjustable): RedisClient | undefined {
  if (client.execute || client.use || 'masters' in client) return undefined
  return client.withCommandOptions?.({ ...client.options?.commandOptions, timeout: undefined })
}
