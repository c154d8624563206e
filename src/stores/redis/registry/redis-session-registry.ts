import { setTimeout as sleep } from 'node:timers/promises'
import type { UserId } from '../../../ground/user-id.ts'
import { noteEnded } from '../../../sessions/session-end.ts'
import type { NewSession, StoredSession, Token } from '../../../sessions/session-record.ts'
import {
  type AdoptedSession,
  type CommitResult,
  type ErasedSessions,
  type LoginAtOnce,
  MOST_AHEAD_MS,
  type Rotation,
  type RotationChange,
  type SessionChange,
  type SessionRegistry,
  type SessionUse,
  type UserSessions,
} from '../../../sessions/session-registry.ts'
import adoptLua from '../lua/registry/adopt.lua'
import checkLua from '../lua/registry/check.lua'
import commitLua from '../lua/registry/commit.lua'
import endLua from '../lua/registry/end.lua'
import eraseLua from '../lua/registry/erase.lua'
import loginLua from '../lua/registry/login.lua'
import readLua from '../lua/registry/read.lua'
import restampLua from '../lua/registry/restamp.lua'
import slotLua from '../lua/registry/slot.lua'
import touchLua from '../lua/registry/touch.lua'
import { type Keys, type RedisCalls, type RedisScript, redisScript } from '../redis-calls.ts'
import type { ServerClock } from './server-clock.ts'
import { decodeLife, decodeSession, encodeSession, encodeTtl, fieldName } from './session-codec.ts'

const READ = redisScript(slotLua, readLua)
const COMMIT = redisScript(slotLua, commitLua)
const LOGIN = redisScript(slotLua, loginLua)
const ADOPT = redisScript(slotLua, adoptLua)
const TOUCH = redisScript(slotLua, touchLua)
const RESTAMP = redisScript(slotLua, restampLua)
const END = redisScript(slotLua, endLua)
const ERASE = redisScript(slotLua, eraseLua)
const CHECK = redisScript(slotLua, checkLua)
/** How many times to try an erasure, 1 ms apart, until the clock has passed the user's version. */
const MOST_ERASE_TRIES = 50
/**
 * Skips what lua/registry/slot.lua keeps about recently ended sessions. COUNT is larger than any valid number of
 * fields.
 */
const ALL_BUT_ENDED = { MATCH: '[^~]*', COUNT: 5000 }

/** A session registry in Redis. Each user has one hash, and so needs only one cluster slot. */
export class RedisSessionRegistry implements SessionRegistry {
  readonly #calls: RedisCalls
  readonly #keys: Keys
  readonly #clock: ServerClock
  looksForMarks: boolean

  /** @param isOneServer Whether a script may use keys of several slots. */
  constructor(calls: RedisCalls, keys: Keys, clock: ServerClock, isOneServer: boolean) {
    this.#calls = calls
    this.#keys = keys
    this.#clock = clock
    this.looksForMarks = isOneServer
  }

  async read(userId: UserId): Promise<UserSessions> {
    return (await this.#readAtOnce(userId)) ?? (await this.#readByScript(userId))
  }

  /**
   * Reads a user's sessions without a script, which is much faster for the server. Resolves to undefined if only a
   * script can tell which sessions have expired.
   */
  async #readAtOnce(userId: UserId): Promise<UserSessions | undefined> {
    if (this.#clock.isDue()) return undefined
    const now = this.#clock.now()
    if (now === undefined) return undefined
    const key = this.#keys.sessions(userId)
    const reply = await this.#calls.tryAsk((client) => client.hScan?.(key, '0', ALL_BUT_ENDED))
    // Redis may return part of a hash at once, and node-redis 4 uses other names.
    if (!reply?.entries || String(reply.cursor) !== '0') return undefined
    const hash = new Map(reply.entries.map(({ field, value }) => [String(field), String(value)]))
    const { sessions, version } = sessionsIn(userId, hash)
    const isSure = ({ record }: StoredSession) =>
      this.#clock.isToCome(record.expiresAt) && record.lastSeenAt <= now + MOST_AHEAD_MS
    return sessions.every(isSure) ? { sessions, version, now } : undefined
  }

  async #readByScript(userId: UserId): Promise<UserSessions> {
    const sentAt = performance.now()
    const [time, fields] = (await this.#run(READ, userId)) as [number, string[]]
    this.#clock.learn(time, sentAt)
    const { sessions, version } = sessionsIn(userId, new Map(pairs(fields)))
    return { sessions: sessions.filter(({ record }) => record.expiresAt > time), version, now: time }
  }

  async useOf(userId: UserId, token: Token): Promise<SessionUse | undefined> {
    const key = this.#keys.sessions(userId)
    const value = await this.#calls.ask((client) => client.hGet(key, fieldName(token)))
    const life = typeof value === 'string' ? decodeLife(value) : undefined
    if (life?.token !== token) return undefined
    if (!this.#clock.isToCome(life.expiresAt)) return this.#check(userId, token)
    if (this.#clock.isDue()) this.#check(userId, token).catch(() => {})
    return { ...this.#clock.useOf(life), stored: value }
  }

  /** Asks the server whether a session has expired, and records the server's time. */
  async #check(userId: UserId, token: Token): Promise<SessionUse | undefined> {
    const sentAt = performance.now()
    const [time, value] = (await this.#run(CHECK, userId, [fieldName(token)])) as [number, string | undefined]
    this.#clock.learn(time, sentAt)
    const life = value === undefined ? undefined : decodeLife(value)
    return life && this.#clock.useOf(life)
  }

  async commit(userId: UserId, version: string, change: SessionChange): Promise<CommitResult> {
    const { admit, end, continues, unlessUsedWithin, marks = [] } = change
    const [name = '', ...session] = encodeSession(userId, admit)
    const needed = continues === undefined ? '' : fieldName(continues)
    const unused = unlessUsedWithin ? encodeUnused(unlessUsedWithin) : ''
    const args = [version, name, ...session, needed, unused, ...end.map(fieldName)]
    const others = this.looksForMarks ? marks.map((mark) => this.#keys.transient(mark)) : []
    const reply = (await this.#runAcross(COMMIT, userId, others, args)) ?? (await this.#run(COMMIT, userId, args))
    if (unused && reply === 0) this.#clock.doubt()
    if (!Array.isArray(reply)) return reply === -1 ? { committed: false, isOver: true } : { committed: false }
    return committed(userId, reply, session[2] ?? '')
  }

  async admitAtOnce(userId: UserId, login: LoginAtOnce): Promise<Committed | undefined> {
    const { admit, maximum, end, hostPrefix, marks } = login
    if (!this.looksForMarks) return undefined
    const [name = '', ttl = '', rest = '', info = ''] = encodeSession(userId, { ...admit, generation: 0 })
    const others = [this.#keys.epoch, ...marks.map((mark) => this.#keys.transient(mark))]
    const args = [name, ttl, rest.slice(1), info, String(maximum), end, hostPrefix]
    const reply = await this.#runAcross(LOGIN, userId, others, args)
    return Array.isArray(reply) ? committed(userId, reply, info) : undefined
  }

  /**
   * Runs a script that also reads keys of other slots. Resolves to undefined if the server refuses that, because it is
   * a proxy in front of a cluster or this Redis user lacks permission. The script has then changed nothing.
   */
  async #runAcross(script: RedisScript, userId: UserId, others: readonly string[], args: readonly string[]) {
    const run: RedisCalls['run'] = (one, key, given) => this.#calls.run(one, [key, others].flat(), given)
    try {
      return await this.#run(script, userId, args, run)
    } catch (error) {
      if (others.length === 0 || !/slot|noperm|undeclared|user executing/.test(reasonOf(error))) throw error
      this.looksForMarks = false
      return undefined
    }
  }

  async adopt(userId: UserId, session: NewSession): Promise<AdoptedSession | undefined> {
    const reply = await this.#run(ADOPT, userId, encodeSession(userId, session))
    if (!Array.isArray(reply)) return undefined
    const [value, info, isNew] = reply
    const stored = decodeSession(userId, value, info ?? '')
    return stored && isNew ? { ...stored, isNew: true } : stored
  }

  async touch(userId: UserId, token: Token, ttlMs: number | undefined, freshMs = 0): Promise<boolean> {
    const args = [fieldName(token), ttlMs === undefined ? '' : encodeTtl(ttlMs), Math.round(freshMs).toString(16)]
    return (await this.#run(TOUCH, userId, args)) === 1
  }

  async rotate(userId: UserId, token: Token, presented: number, { graceMs, ttlMs }: RotationChange) {
    const numbers = [0, presented, Math.round(graceMs)].map((number) => number.toString(16))
    return rotationIn(await this.#run(TOUCH, userId, [fieldName(token), encodeTtl(ttlMs), ...numbers]))
  }

  async restamp(userId: UserId, token: Token, generation: number, version = ''): Promise<boolean> {
    return (await this.#run(RESTAMP, userId, [fieldName(token), generation.toString(16), version])) === 1
  }

  async end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]> {
    const args = tokens ? ['named', ...tokens.map(fieldName)] : ['all']
    return decodeEnded(userId, (await this.#endDurably(userId, args)) as string[])
  }

  /**
   * Uses no script and keeps the version, because after a site-wide logout, everyone may return at once. With
   * `durability: 'replica'`, uses `end`, because a removal that a failover undid would be reported again.
   */
  async removeStale(userId: UserId, token: Token, { stored }: SessionUse, isWhole: boolean) {
    if (this.#calls.isReplicated) return this.end(userId, [token])
    const [key, name] = [this.#keys.sessions(userId), fieldName(token)]
    const info = isWhole ? await this.#calls.ask((client) => client.hGet(key, `i${name}`)) : ''
    const removed =
      stored && (await this.#calls.tryAsk((client) => client.hDel?.(key, [name, `i${name}`, `r:${name}`])))
    if (removed === undefined) return this.end(userId, [token])
    const session = Number(removed) > 0 ? decodeSession(userId, String(stored), String(info ?? '')) : undefined
    return session ? [session] : []
  }

  async endOthers(userId: UserId, keep: Token): Promise<readonly StoredSession[] | undefined> {
    const reply = await this.#endDurably(userId, ['others', fieldName(keep)])
    return Array.isArray(reply) ? decodeEnded(userId, reply) : undefined
  }

  async erase(userId: UserId, tokens?: readonly Token[]): Promise<ErasedSessions> {
    const names = tokens?.map(fieldName) ?? []
    for (let tries = 1; ; tries++) {
      const mayWait = tries < MOST_ERASE_TRIES ? '1' : ''
      const reply = await this.#endDurably(userId, [tokens ? 'named' : 'all', mayWait, ...names], ERASE)
      if (Array.isArray(reply)) {
        const [at, ...ended] = reply as [number, ...string[]]
        return { ended: decodeEnded(userId, ended), sequence: at, at }
      }
      await sleep(1)
    }
  }

  /** Ends sessions durably. If no replica confirms, attaches them to the error: a second call would not return them. */
  async #endDurably(userId: UserId, args: readonly string[], script = END): Promise<unknown> {
    let reply: unknown
    const run = (one: RedisScript, key: string, given: readonly string[]) =>
      this.#calls.runDurably(one, key, given, (each) => {
        reply = each
      })
    try {
      return await this.#run(script, userId, args, run)
    } catch (error) {
      if (!Array.isArray(reply)) throw error
      throw noteEnded(error as Error, decodeEnded(userId, script === ERASE ? reply.slice(1) : reply))
    }
  }

  #run(
    script: RedisScript,
    userId: UserId,
    args: readonly string[] = [],
    run: RedisCalls['run'] = (...call) => this.#calls.run(...call),
  ): Promise<unknown> {
    return run(script, this.#keys.sessions(userId), args)
  }
}

/** Encodes, for a script, which sessions must be unused and for how long. */
function encodeUnused({ tokens, ms }: NonNullable<SessionChange['unlessUsedWithin']>): string {
  return [Math.ceil(ms).toString(16), ...tokens.map(fieldName)].join()
}

/** Returns the message of the Redis error that caused an error, in lower case. */
function reasonOf(error: unknown): string {
  const { cause } = error as Error
  return cause instanceof Error ? cause.message.toLowerCase() : ''
}

type Committed = CommitResult & { readonly committed: true }

function committed(userId: UserId, [value, ended, hasNone]: readonly unknown[], info: string): Committed {
  const admitted = decodeSession(userId, String(value), info) as StoredSession
  return { committed: true, admitted, ended: decodeEnded(userId, ended as string[]), isUnerased: hasNone === 1 }
}

function rotationIn(reply: unknown): Rotation | undefined {
  if (!Array.isArray(reply)) return undefined
  const [outcome, number, at] = reply.map(String)
  return { outcome: outcome as Rotation['outcome'], number: Number(`0x${number}`), at: Number(`0x${at}`) }
}

function pairs(list: readonly string[]): [string, string][] {
  return list.flatMap((field, index) => (index % 2 === 0 ? [[field, list[index + 1] ?? '']] : []))
}

/** Decodes a user's hash. */
function sessionsIn(userId: UserId, hash: ReadonlyMap<string, string>): Omit<UserSessions, 'now'> {
  const sessions: StoredSession[] = []
  for (const [name, value] of hash) {
    const session = name.length === 11 && decodeSession(userId, value, hash.get(`i${name}`) ?? '')
    if (session) sessions.push(session)
  }
  return { sessions: oldestFirst(sessions), version: hash.get('v') ?? '0' }
}

function decodeEnded(userId: UserId, list: readonly string[]): readonly StoredSession[] {
  const ended = list.flatMap((_, index) =>
    index % 3 === 0 ? (decodeSession(userId, list[index + 1] ?? '', list[index + 2] ?? '') ?? []) : [],
  )
  return oldestFirst(ended)
}

function oldestFirst(sessions: readonly StoredSession[]): readonly StoredSession[] {
  return sessions.toSorted((a, b) => a.record.sequence - b.record.sequence)
}
