import { BoundedMap } from '../../ground/bounded-map.ts'
import {
  type IndexedPerson,
  MOST_PEOPLE,
  type PeopleCount,
  type PeopleIndex,
  type PeoplePage,
  type PeopleQuery,
  type PersonChange,
} from '../../sessions/people-index.ts'
import { countPeople, peoplePage } from '../people/people-page.ts'
import { personAfter } from '../people/person-after.ts'

/** An index of people in memory. */
export class MemoryPeopleIndex implements PeopleIndex {
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
