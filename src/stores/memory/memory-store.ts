import type { ApplicationPasswordStore, StoredPassword } from '../../auth/application-passwords.ts'
import { BoundedMap } from '../../ground/bounded-map.ts'
import { type Clock, systemClock } from '../../ground/clock.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { OptionStore, StoredOption } from '../../options/option-store.ts'
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
import { countPeople, peoplePage, personAfter } from '../people-page.ts'
import type { SessmgrStore } from '../store.ts'
import type { SignalListener, StoreSignals } from '../store-signals.ts'
import { MemorySessionRegistry } from './memory-session-registry.ts'
import { MemoryTransientStore } from './memory-transient-store.ts'

/**
 * Creates a store in the memory of this process, for development, tests and single-process applications. All data is
 * lost when the process restarts.
 */
export function memoryStore({ clock = systemClock }: { clock?: Clock } = {}): SessmgrStore {
  const sessions = new MemorySessionRegistry(clock)
  const epoch = new MemoryLogoutEpoch(clock)
  const options = new MemoryOptionStore()
  const passwords = new MemoryPasswordStore()
  const transients = new MemoryTransientStore(clock)
  const people = new MemoryPeopleIndex()
  return {
    id: `memory:${nodeCrypto().randomUUID()}`,
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
  readonly #users = new Map<string, Map<string, StoredPassword>>()
  /** Number of passwords by user and hash. */
  readonly #hashes = new Map<string, number>()

  wipe(): void {
    this.#users.clear()
    this.#hashes.clear()
  }

  async add(userId: UserId, password: StoredPassword): Promise<void> {
    this.#remove(userId, password.id)
    const key = String(userId)
    const passwords = this.#users.get(key) ?? new Map<string, StoredPassword>()
    this.#users.set(key, passwords.set(password.id, password))
    this.#count(userId, password, 1)
  }

  async list(userId: UserId): Promise<readonly StoredPassword[]> {
    return [...(this.#users.get(String(userId))?.values() ?? [])]
  }

  async has(userId: UserId, hash: string): Promise<boolean> {
    return this.#hashes.has(hashKey(userId, hash))
  }

  async remove(userId: UserId, id: string): Promise<boolean> {
    return this.#remove(userId, id)
  }

  async erase(userId: UserId): Promise<void> {
    for (const id of [...(this.#users.get(String(userId))?.keys() ?? [])]) this.#remove(userId, id)
    this.#users.delete(String(userId))
  }

  #remove(userId: UserId, id: string): boolean {
    const passwords = this.#users.get(String(userId))
    const password = passwords?.get(id)
    if (!passwords || !password) return false
    passwords.delete(id)
    this.#count(userId, password, -1)
    return true
  }

  #count(userId: UserId, { hash }: StoredPassword, change: number): void {
    const key = hashKey(userId, hash)
    const count = (this.#hashes.get(key) ?? 0) + change
    if (count > 0) this.#hashes.set(key, count)
    else this.#hashes.delete(key)
  }
}

function hashKey(userId: UserId, hash: string): string {
  return `${hash} ${userId}`
}

/** Counts site-wide logouts in memory. */
class MemoryLogoutEpoch implements LogoutEpoch {
  readonly #clock: Clock
  #generation = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wipe(): void {
    this.#generation = 0
  }

  async current(): Promise<number> {
    return this.#generation
  }

  async advance(): Promise<SiteLogout> {
    this.#generation += 1
    return { generation: this.#generation, epoch: Math.floor(this.#clock.now() / 1000) }
  }

  async advanceFrom(generation: number): Promise<SiteLogout | undefined> {
    return generation === this.#generation ? this.advance() : undefined
  }
}

/** An index of people in memory. */
class MemoryPeopleIndex implements PeopleIndex {
  /** By user id as JSON, the last noted at the end. */
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
    // With the latest first, most others need not be kept.
    return peoplePage([...this.#people.values()].reverse(), query)
  }

  async count({ atLeast }: { readonly atLeast?: number | undefined } = {}): Promise<PeopleCount> {
    return countPeople(this.#people.values(), atLeast)
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
