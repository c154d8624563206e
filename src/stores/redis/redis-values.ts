import type { ApplicationPasswordStore, StoredPassword } from '../../auth/application-passwords.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { OptionStore, StoredOption } from '../../options/option-store.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import {
  type IndexedPerson,
  MOST_PEOPLE,
  type PeopleCount,
  type PeopleIndex,
  type PeoplePage,
  type PeopleQuery,
  type PersonChange,
} from '../../sessions/people-index.ts'
import type { LogoutEpoch, SiteLogout } from '../../sessions/session-registry.ts'
import { pageOf, placeFrom } from '../people-page.ts'
import advanceEpochLua from './lua/advance-epoch.lua'
import advanceGenerationLua from './lua/advance-generation.lua'
import erasePasswordsLua from './lua/erase-passwords.lua'
import hasPasswordLua from './lua/has-password.lua'
import listPasswordsLua from './lua/list-passwords.lua'
import clearLua from './lua/people/clear.lua'
import countLua from './lua/people/count.lua'
import noteLua from './lua/people/note.lua'
import pageLua from './lua/people/page.lua'
import swapTransientLua from './lua/swap-transient.lua'
import takeTransientLua from './lua/take-transient.lua'
import writeOptionLua from './lua/write-option.lua'
import writePasswordLua from './lua/write-password.lua'
import writeTransientLua from './lua/write-transient.lua'
import { type Keys, type RedisCalls, type RedisScript, redisScript } from './redis-calls.ts'

const WRITE_OPTION = redisScript(writeOptionLua)

/** Stores options in one Redis hash. */
export class RedisOptionStore implements OptionStore {
  readonly #calls: RedisCalls
  readonly #key: string
  readonly #asked = new AskedOnce<StoredOption | undefined>()

  constructor(calls: RedisCalls, key: string) {
    this.#calls = calls
    this.#key = key
  }

  get(name: string): Promise<StoredOption | undefined> {
    return this.#asked.of(name, () => this.#read(name))
  }

  async #read(name: string): Promise<StoredOption | undefined> {
    const stored = await this.#calls.ask((client) => client.hGet(this.#key, `=${name}`))
    if (typeof stored !== 'string') return undefined
    const space = stored.indexOf(' ')
    return { revision: stored.slice(0, space), value: JSON.parse(stored.slice(space + 1)) }
  }

  async set(name: string, value: unknown): Promise<void> {
    await this.#write(['set', name, JSON.stringify(value)])
  }

  async swap(name: string, revision: string | undefined, value: unknown): Promise<boolean> {
    return (await this.#write(['swap', name, JSON.stringify(value), revision ?? ''])) !== 0
  }

  async delete(name: string): Promise<void> {
    await this.#write(['delete', name])
  }

  async #write(args: readonly string[]): Promise<unknown> {
    try {
      return await this.#calls.run(WRITE_OPTION, this.#key, args)
    } finally {
      this.#asked.forget()
    }
  }
}

const ADVANCE_EPOCH = redisScript(advanceEpochLua)

/** Counts site-wide logouts in Redis. */
export class RedisLogoutEpoch implements LogoutEpoch {
  readonly #calls: RedisCalls
  readonly #key: string
  readonly #asked = new AskedOnce<number>()

  constructor(calls: RedisCalls, key: string) {
    this.#calls = calls
    this.#key = key
  }

  current(): Promise<number> {
    return this.#asked.of(this.#key, async () =>
      readCount(await this.#calls.ask((client) => client.get(this.#key)), this.#key),
    )
  }

  async advance(): Promise<SiteLogout> {
    return (await this.#advance([])) as SiteLogout
  }

  advanceFrom(generation: number): Promise<SiteLogout | undefined> {
    return this.#advance([String(generation)])
  }

  async #advance(args: readonly string[]): Promise<SiteLogout | undefined> {
    const [generation, epoch] = (await this.#calls.runDurably(ADVANCE_EPOCH, this.#key, args)) as number[]
    return generation === undefined || epoch === undefined ? undefined : { generation, epoch }
  }
}

const HAS_PASSWORD = redisScript(hasPasswordLua)
const LIST_PASSWORDS = redisScript(listPasswordsLua)
const ERASE_PASSWORDS = redisScript(erasePasswordsLua)
const WRITE_PASSWORD = redisScript(writePasswordLua)

/** Stores application passwords in Redis, in one hash per user. */
export class RedisPasswordStore implements ApplicationPasswordStore {
  readonly #calls: RedisCalls
  readonly #keys: Keys

  constructor(calls: RedisCalls, keys: Keys) {
    this.#calls = calls
    this.#keys = keys
  }

  async add(userId: UserId, password: StoredPassword): Promise<void> {
    await this.#run(WRITE_PASSWORD, userId, [password.id, JSON.stringify(password)])
  }

  async list(userId: UserId): Promise<readonly StoredPassword[]> {
    const passwords = ((await this.#run(LIST_PASSWORDS, userId)) as string[]).map(
      (json) => JSON.parse(json) as StoredPassword,
    )
    return passwords.toSorted((a, b) => a.createdAt - b.createdAt)
  }

  async has(userId: UserId, hash: string): Promise<boolean> {
    return (await this.#run(HAS_PASSWORD, userId, [hash])) === 1
  }

  async remove(userId: UserId, id: string): Promise<boolean> {
    return (await this.#run(WRITE_PASSWORD, userId, [id])) === 1
  }

  async erase(userId: UserId): Promise<void> {
    await this.#run(ERASE_PASSWORDS, userId)
  }

  #run(script: RedisScript, userId: UserId, args?: readonly string[]): Promise<unknown> {
    return this.#calls.run(script, this.#keys.passwords(userId), args)
  }
}

const WRITE_TRANSIENT = redisScript(writeTransientLua)
const SWAP_TRANSIENT = redisScript(swapTransientLua)
const TAKE_TRANSIENT = redisScript(takeTransientLua)
const ADVANCE_GENERATION = redisScript(advanceGenerationLua)

/** A transient store in Redis. */
export class RedisTransientStore implements TransientStore {
  readonly #calls: RedisCalls
  readonly #keys: Keys

  constructor(calls: RedisCalls, keys: Keys) {
    this.#calls = calls
    this.#keys = keys
  }

  async get(key: string): Promise<string | undefined> {
    const value = await this.#calls.ask((client) => client.get(this.#keys.transient(key)))
    return typeof value === 'string' ? value : undefined
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    const life = Math.max(1, Math.round(ttlMs))
    const full = this.#keys.transient(key)
    const isSet = await this.#calls.tryAsk((client) => client.set?.(full, value, { PX: life }))
    if (isSet === undefined) await this.#calls.run(WRITE_TRANSIENT, full, [value, life])
  }

  async take(key: string): Promise<string | undefined> {
    const value = await this.#calls.run(TAKE_TRANSIENT, this.#keys.transient(key))
    return typeof value === 'string' ? value : undefined
  }

  async swap(key: string, before: string | undefined, value: string, ttlMs: number): Promise<string | undefined> {
    const life = Math.max(1, Math.round(ttlMs))
    const given = before === undefined ? [value, life] : [value, life, before]
    const found = await this.#calls.run(SWAP_TRANSIENT, this.#keys.transient(key), given)
    return typeof found === 'string' ? found : undefined
  }

  async generation(group: string): Promise<number> {
    const key = this.#keys.generation(group)
    return readCount(await this.#calls.ask((client) => client.get(key)), key)
  }

  async advance(group: string): Promise<number> {
    return Number(await this.#calls.run(ADVANCE_GENERATION, this.#keys.generation(group)))
  }
}

/**
 * Shares one read among all callers in the same turn of the event loop. All of them asked before the read was sent, so
 * it sees every change that was complete when they asked.
 */
export class AskedOnce<T> {
  readonly #answers = new Map<string, Promise<T>>()

  /** Returns the result of this turn, starting the read if needed. */
  of(name: string, question: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(name)
    if (known) return known
    if (this.#answers.size === 0) setImmediate(() => this.forget())
    const answer = question()
    this.#answers.set(name, answer)
    return answer
  }

  /** Discards all results: at the end of a turn, and when this process changes the data. */
  forget(): void {
    this.#answers.clear()
  }
}

/**
 * Parses a counter that only grows. Returns 0 if it does not exist.
 *
 * @throws SessmgrError `store_unavailable` for anything except digits, because a wrong number could make ended sessions
 * valid again.
 */
export function readCount(value: unknown, key: string): number {
  if (value === null || value === undefined) return 0
  if (/^\d{1,15}$/.test(String(value))) return Number(value)
  const cure = 'Set it to a whole number larger than it has ever been, such as 1000000'
  throw new SessmgrError('store_unavailable', `The Redis key "${key}" is damaged: it is not a whole number. ${cure}.`)
}

const NOTE_PEOPLE = redisScript(noteLua)
const PAGE_OF_PEOPLE = redisScript(pageLua)
const COUNT_PEOPLE = redisScript(countLua)
const CLEAR_PEOPLE = redisScript(clearLua)

/** How many people one script call may change, so that it does not delay other commands. */
const BATCH = 200

/** An index of people in Redis: two sorted sets and a sum, in one slot. */
export class RedisPeopleIndex implements PeopleIndex {
  readonly #calls: RedisCalls
  readonly #keys: Keys['people']

  constructor(calls: RedisCalls, keys: Keys['people']) {
    this.#calls = calls
    this.#keys = keys
  }

  async note(changes: readonly PersonChange[]): Promise<void> {
    const { recent, most, sum } = this.#keys
    for (let first = 0; first < changes.length; first += BATCH) {
      const args = changes.slice(first, first + BATCH).flatMap(argumentsOf)
      await this.#calls.run(NOTE_PEOPLE, [recent, most, sum], [MOST_PEOPLE, ...args])
    }
  }

  async page(query: PeopleQuery): Promise<PeoplePage> {
    const { sort, limit, cursor } = query
    const { recent, most } = this.#keys
    const keys = sort === 'recent' ? [recent, most] : [most, recent]
    const after = cursor === undefined ? undefined : placeFrom(cursor)
    // One person beyond the page shows whether another page follows.
    const args = [limit + 1, ...(after ? [-after.number, after.key] : [])]
    return pageOf(readPeople((await this.#calls.run(PAGE_OF_PEOPLE, keys, args)) as string[], sort), query)
  }

  async count({ atLeast }: { readonly atLeast?: number | undefined } = {}): Promise<PeopleCount> {
    const { most, sum } = this.#keys
    const reply = (await this.#calls.run(COUNT_PEOPLE, [most, sum], [atLeast ?? 1])) as unknown[]
    const [people = 0, sessions = 0, some = 0] = reply.map(Number)
    return { people, sessions, ...(atLeast !== undefined && { atLeast: some }) }
  }

  async clear(before: number): Promise<void> {
    const { recent, most, sum } = this.#keys
    let removed: number
    do {
      removed = Number(await this.#calls.run(CLEAR_PEOPLE, [recent, most, sum], [before, BATCH]))
    } while (removed === BATCH)
  }
}

function argumentsOf(change: PersonChange): readonly (string | number)[] {
  const id = JSON.stringify(change.userId)
  if ('live' in change) return [id, 'live', change.at, change.live]
  return 'added' in change ? [id, 'added', change.at, change.added] : [id, 'ended', 0, change.ended]
}

function readPeople(reply: readonly string[], sort: PeopleQuery['sort']): IndexedPerson[] {
  const people: IndexedPerson[] = []
  for (let first = 0; first < reply.length; first += 3) {
    const [id = '', one, other] = reply.slice(first, first + 3)
    const [at, live] = sort === 'recent' ? [one, other] : [other, one]
    people.push({ userId: JSON.parse(id), at: Math.abs(Number(at)), live: Math.abs(Number(live)) })
  }
  return people
}
