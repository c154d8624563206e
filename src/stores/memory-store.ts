import type { ApplicationPasswordStore, StoredPassword } from '../auth/application-passwords.ts'
import { BoundedMap } from '../ground/bounded-map.ts'
import { type Clock, systemClock } from '../ground/clock.ts'
import type { UserId } from '../ground/user-id.ts'
import type { OptionStore, StoredOption } from '../options/option-store.ts'
import type { TransientStore } from '../options/transient-store.ts'
import {
  type IndexedPerson,
  MOST_PEOPLE,
  type PeopleCounts,
  type PeopleIndex,
  type PeoplePage,
  type PeopleQuery,
  type PersonChange,
} from '../sessions/people-index.ts'
import {
  type Epoch,
  FIRST_EPOCH,
  type NewSession,
  type SessionStamp,
  type StoredSession,
  type Token,
} from '../sessions/session-record.ts'
import {
  type AdoptedSession,
  type CommitResult,
  type ErasedSessions,
  type LogoutEpoch,
  nextLogout,
  type Rotation,
  type RotationChange,
  type SessionChange,
  type SessionRegistry,
  type SessionUse,
  type SiteLogout,
  type UserSessions,
} from '../sessions/session-registry.ts'
import type { StateChange } from '../sessions/user-state.ts'
import {
  adoptSession,
  changeState,
  commitLogin,
  EMPTY,
  endOtherSessions,
  endSessions,
  eraseUser,
  lastExpiry,
  lifeIn,
  openDocument,
  readDocument,
  rotateSession,
  type Step,
  takeUpSession,
  touchSession,
  type UserDocument,
  undoLogin,
  useAt,
} from './document/user-document.ts'
import { countPeople, peoplePage, personAfter } from './people-page.ts'
import type { SessmgrStore, SignalListener, StoreSignals } from './store.ts'

/**
 * Creates a store in the memory of this process, for development, tests and single-process applications. All data is
 * lost when the process restarts.
 *
 * @example
 * ```ts
 * const limiter = sessmgr({ store: memoryStore() })
 * ```
 */
export function memoryStore({ clock = systemClock }: { clock?: Clock } = {}): SessmgrStore {
  const sessions = new MemorySessionRegistry(clock)
  const epoch = new MemoryLogoutEpoch(clock)
  const options = new MemoryOptionStore()
  const passwords = new MemoryPasswordStore()
  const transients = new MemoryTransientStore(clock)
  const people = new MemoryPeopleIndex()
  return {
    name: 'memory',
    local: true,
    sessions,
    epoch,
    options,
    passwords,
    transients,
    people,
    signals: new MemorySignals(),
    async wipe() {
      for (const part of [sessions, epoch, options, passwords, transients, people]) part.wipe()
    },
    close: async () => {},
  }
}

/** How many users without sessions to remember. */
const MOST_IDLE = 100_000

/** A user's sessions, with the document that has them. */
interface ReadSessions extends UserSessions {
  readonly document: UserDocument
}

/**
 * A session registry in memory, with the same rules as every document store.
 *
 * Each method is atomic because it does its work before it first yields.
 */
class MemorySessionRegistry implements SessionRegistry {
  /** As over a database with the default deadline: logins take longer than a call of this store. */
  readonly quietMs = 4000
  readonly #clock: Clock
  readonly #documents = new Map<string, UserDocument>()
  /** Users without sessions of whom something else is stored, in the order of their last change. */
  readonly #idle = new Set<string>()
  /** Time until which forgotten marks apply to all users. Signing in again is better than reviving an ended session. */
  #everyone = 0
  /** The last sequence of any session. */
  #sequence = 0
  #sweep: Iterator<string> = [][Symbol.iterator]()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#documents.clear()
    this.#idle.clear()
    this.#everyone = 0
  }

  async read(userId: UserId): Promise<ReadSessions> {
    const now = this.#clock.now()
    const document = this.#open(String(userId), now)
    return { ...readDocument(document, now), document }
  }

  async useOf(userId: UserId, token: Token): Promise<SessionUse | undefined> {
    const now = this.#clock.now()
    const document = this.#documents.get(String(userId))
    const life = document && lifeIn(document, token)
    return life && life.lifeEnd > now ? useAt(life, performance.now(), now) : undefined
  }

  commit(userId: UserId, read: ReadSessions, change: SessionChange): Promise<CommitResult> {
    const now = this.#clock.now()
    this.#sweepSome(now)
    const step = commitLogin(userId, change)
    return this.#change(userId, (document, moment) => step(document, moment, document === read.document), now)
  }

  adopt(userId: UserId, session: NewSession): Promise<AdoptedSession | undefined> {
    const step = adoptSession(userId, session)
    return this.#change(userId, (document, moment) =>
      step(this.#everyone > moment.now ? { ...document, mark: this.#everyone } : document, moment),
    )
  }

  touch(userId: UserId, token: Token, ...given: [ttlMs: number | undefined, freshMs?: number, maxAgeMs?: number]) {
    return this.#change(userId, touchSession(token, ...given))
  }

  takeUp(userId: UserId, token: Token): Promise<boolean> {
    return this.#change(userId, takeUpSession(token))
  }

  rotate(userId: UserId, token: Token, presented: number, change: RotationChange): Promise<Rotation | undefined> {
    return this.#change(userId, rotateSession(token, presented, change))
  }

  end(userId: UserId, tokens?: readonly Token[]): Promise<readonly StoredSession[]> {
    return this.#change(userId, endSessions(tokens))
  }

  undo(userId: UserId, token: Token): Promise<void> {
    return this.#change(userId, undoLogin(token))
  }

  endOthers(userId: UserId, keep: Token, keepsChoices?: boolean): Promise<readonly StoredSession[] | undefined> {
    return this.#change(userId, endOtherSessions(keep, keepsChoices))
  }

  erase(userId: UserId): Promise<ErasedSessions> {
    return this.#change(userId, eraseUser(this.quietMs))
  }

  changeState<Result>(userId: UserId, change: StateChange<Result>): Promise<Result> {
    return this.#change(userId, changeState(change))
  }

  async #change<Result>(userId: UserId, step: Step<Result>, now = this.#clock.now()): Promise<Result> {
    const key = String(userId)
    const document = this.#open(key, now)
    const { result, next } = step(document, { now, sequence: ++this.#sequence, createdAt: now })
    if (next) this.#keep(key, next)
    return result
  }

  /** Returns a user's document without expired parts. */
  #open(key: string, now: number): UserDocument {
    const document = this.#documents.get(key)
    if (!document) return EMPTY
    const opened = openDocument(document, now)
    if (opened === document) return document
    const kept = lastExpiry(opened) === 0 ? EMPTY : opened
    this.#keep(key, kept)
    return kept
  }

  #keep(key: string, document: UserDocument): void {
    this.#idle.delete(key)
    if (document === EMPTY) this.#documents.delete(key)
    else this.#documents.set(key, document)
    if (document !== EMPTY && document.sessions.length === 0) this.#idle.add(key)
    if (this.#idle.size > MOST_IDLE) this.#forgetLongestIdle()
  }

  #forgetLongestIdle(): void {
    const [key] = this.#idle as Iterable<string> as [string]
    this.#everyone = Math.max(this.#everyone, this.#documents.get(key)?.mark ?? 0)
    this.#keep(key, EMPTY)
  }

  /** Checks two users at each login, so that data of users who never return is also removed. */
  #sweepSome(now: number): void {
    for (let looked = 0; looked < 2; looked++) {
      const next = this.#sweep.next()
      if (next.done) {
        this.#sweep = this.#documents.keys()
        return
      }
      this.#open(next.value, now)
    }
  }
}

/** Stores the epoch in memory. */
class MemoryLogoutEpoch implements LogoutEpoch {
  readonly #clock: Clock
  #epoch = FIRST_EPOCH

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#epoch = FIRST_EPOCH
  }

  async current(): Promise<Epoch> {
    return this.#epoch
  }

  async advance(keep?: SessionStamp): Promise<SiteLogout | undefined> {
    const logout = nextLogout(this.#epoch, this.#clock.now(), keep)
    if (logout) this.#epoch = { generation: logout.generation, keeps: logout.keeps }
    return logout
  }
}

/** An option store in memory. */
class MemoryOptionStore implements OptionStore {
  readonly #options = new Map<string, StoredOption>()
  #writes = 0

  wipe(): void {
    this.#options.clear()
  }

  async get(name: string): Promise<StoredOption | undefined> {
    const stored = this.#options.get(name)
    return stored && { value: structuredClone(stored.value), revision: stored.revision }
  }

  async set(name: string, value: unknown): Promise<void> {
    this.#writes += 1
    this.#options.set(name, { value: structuredClone(value), revision: String(this.#writes) })
  }

  async swap(name: string, revision: string | undefined, value: unknown): Promise<boolean> {
    if (this.#options.get(name)?.revision !== revision) return false
    await this.set(name, value)
    return true
  }

  async delete(name: string): Promise<void> {
    this.#options.delete(name)
  }
}

/** Stores application passwords in memory. */
class MemoryPasswordStore implements ApplicationPasswordStore {
  readonly #users = new Map<string, readonly StoredPassword[]>()

  wipe(): void {
    this.#users.clear()
  }

  async add(userId: UserId, password: StoredPassword): Promise<void> {
    const others = this.#of(userId).filter(({ id }) => id !== password.id)
    this.#users.set(String(userId), [...others, password])
  }

  async list(userId: UserId): Promise<readonly StoredPassword[]> {
    return this.#of(userId)
  }

  async has(userId: UserId, hash: string): Promise<boolean> {
    return this.#of(userId).some((password) => password.hash === hash)
  }

  async remove(userId: UserId, id: string): Promise<boolean> {
    const present = this.#of(userId)
    const left = present.filter((password) => password.id !== id)
    if (left.length === 0) this.#users.delete(String(userId))
    else this.#users.set(String(userId), left)
    return left.length < present.length
  }

  async erase(userId: UserId): Promise<void> {
    this.#users.delete(String(userId))
  }

  #of(userId: UserId): readonly StoredPassword[] {
    return this.#users.get(String(userId)) ?? []
  }
}

/** How many strings of each kind to keep. */
const MOST_STRINGS = 10_000

/** Matches the keys of strings that only strings of the same kind may evict. */
const APART = /^(?:erased|ended):/

interface Entry {
  readonly value: string
  readonly until: number
}

/**
 * A transient store in memory. When full, it evicts the oldest entries, but only of the same kind: cached strings must
 * not evict the marks of erasures.
 */
class MemoryTransientStore implements TransientStore {
  readonly #clock: Clock
  readonly #kinds = new Map<string | undefined, BoundedMap<string, Entry>>()
  readonly #generations = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#kinds.clear()
    this.#generations.clear()
  }

  async get(key: string): Promise<string | undefined> {
    const entries = this.#entriesOf(key)
    const kept = entries.get(key)
    if (kept && kept.until > this.#clock.now()) return kept.value
    entries.delete(key)
    return undefined
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    this.#entriesOf(key).set(key, { value, until: this.#clock.now() + ttlMs })
  }

  async take(key: string): Promise<string | undefined> {
    const entries = this.#entriesOf(key)
    const kept = entries.get(key)
    entries.delete(key)
    return kept && kept.until > this.#clock.now() ? kept.value : undefined
  }

  async generation(group: string): Promise<number> {
    return this.#generations.get(group) ?? 0
  }

  async advance(group: string): Promise<number> {
    const generation = (this.#generations.get(group) ?? 0) + 1
    this.#generations.set(group, generation)
    return generation
  }

  #entriesOf(key: string): BoundedMap<string, Entry> {
    const kind = APART.exec(key)?.[0]
    const known = this.#kinds.get(kind)
    if (known) return known
    const entries = new BoundedMap<string, Entry>(MOST_STRINGS)
    this.#kinds.set(kind, entries)
    return entries
  }
}

/** An index of people in memory. */
class MemoryPeopleIndex implements PeopleIndex {
  /** By user id as JSON. The person noted last is at the end. */
  readonly #people = new BoundedMap<string, IndexedPerson>(MOST_PEOPLE)

  wipe(): void {
    this.#people.clear()
  }

  async note(changes: readonly PersonChange[]): Promise<void> {
    for (const change of changes) {
      const key = JSON.stringify(change.userId)
      const after = personAfter(this.#people.get(key), change)
      if (after) this.#people.set(key, after)
      else this.#people.delete(key)
    }
  }

  async page(query: PeopleQuery): Promise<PeoplePage> {
    // With the latest first, peoplePage() can skip most of the others.
    return peoplePage([...this.#people.values()].reverse(), query)
  }

  async count(): Promise<PeopleCounts> {
    return countPeople([...this.#people.values()])
  }

  async clear(before: number): Promise<void> {
    for (const [key, { at }] of this.#people) if (at < before) this.#people.delete(key)
  }
}

/** Passes messages within this process. */
class MemorySignals implements StoreSignals {
  readonly #listeners = new Set<SignalListener>()

  async publish(message: string): Promise<void> {
    for (const listener of this.#listeners) listener.heard(message)
  }

  async subscribe(listener: SignalListener): Promise<() => Promise<void>> {
    // The same listener may subscribe twice.
    const own = { heard: listener.heard.bind(listener), missed() {} }
    this.#listeners.add(own)
    return async () => void this.#listeners.delete(own)
  }
}
