import type { Logger } from '../../ground/logger.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { SiteLogout } from '../../sessions/logout-epoch.ts'
import type { IndexedPerson, PeopleCount, PeopleIndex, PeoplePage, PeopleQuery } from '../../sessions/people-index.ts'
import type { SessionRecord, StoredSession } from '../../sessions/session-record.ts'
import type { AnnouncedAction } from '../actions/announced-action.ts'
import { PeopleNotes } from './people-notes.ts'

/** How many people each count checks against the session registry. */
const CHECKED = 100

/** Lists the people who are signed in, and keeps their index up to date. */
export interface Directory {
  /** Lists people as the index knows them. Check each against the registry, and report differences to `correct`. */
  page(query: PeopleQuery): Promise<PeoplePage>
  /**
   * Counts people, and those with at least as many sessions as each number. Sessions expire without an event, so each
   * call checks the next 100 people. `exact`: whether those were all, and no
   * change was lost.
   */
  count(...least: readonly [number, ...number[]]): Promise<PeopleCounts>
  /**
   * Corrects the numbers of people who were listed; 0 removes a person. Ignored for a person who has signed in since.
   */
  correct(people: readonly IndexedPerson[]): void
  /** Notes a login that has ended some of the sessions before it. */
  login(before: SessionsBefore, admitted: SessionRecord, ended: readonly StoredSession[]): void
  /** Notes sessions that have started or ended in other ways. */
  announced(actions: readonly AnnouncedAction[]): void
  /** Notes a site-wide logout. */
  loggedOut(logout: SiteLogout, kept: UserId | undefined): void
  /** Notes what is left. */
  close(): Promise<void>
}

interface PeopleCounts extends Pick<PeopleCount, 'people' | 'sessions'> {
  /** For each number, the people with at least so many sessions. */
  readonly atLeast: readonly number[]
  readonly exact: boolean
}

/** The sessions that a user had when a login was decided on. */
interface SessionsBefore {
  readonly registered: readonly StoredSession[]
  /** The generation that live sessions have. */
  readonly generation: number
}

export interface DirectoryParts {
  readonly index: PeopleIndex
  readonly logger: Logger
  readonly deadlineMs: number
  /** Counts a user's live sessions. */
  countOf(userId: UserId): Promise<number>
}

/** Creates the directory. */
export function createDirectory({ index, logger, deadlineMs, countOf }: DirectoryParts): Directory {
  const notes = new PeopleNotes(index, deadlineMs, logger)
  /** Sessions below this generation are over, and no longer counted. */
  let generation = 0
  let cursor: string | undefined

  const correct = (people: readonly IndexedPerson[]) => {
    for (const person of people) notes.add(person)
  }

  /** Checks the next people. Returns whether those were all. */
  async function checkNext(): Promise<boolean> {
    const isFirst = cursor === undefined
    const { people, next } = await index.page({ sort: 'recent', limit: CHECKED, cursor })
    cursor = next
    const counted = await Promise.all(people.map(async (person) => ({ ...person, live: await countOf(person.userId) })))
    correct(counted.filter(({ live }, position) => live !== people[position]?.live))
    return isFirst && next === undefined
  }

  return {
    async page(query) {
      await notes.flush()
      return index.page(query)
    },
    async count(...least) {
      await notes.flush()
      const exact = await checkNext()
      await notes.flush()
      // In one turn of the event loop, a database reads the index only once.
      const counts = await Promise.all(least.map((atLeast) => index.count({ atLeast })))
      const { people, sessions } = counts[0] as PeopleCount
      return {
        people,
        sessions,
        atLeast: counts.map(({ atLeast = 0 }) => atLeast),
        exact: exact && !notes.hasFailed,
      }
    },
    correct,
    login({ registered, generation: current }, { userId, token, createdAt }, ended) {
      generation = Math.max(generation, current)
      const gone = new Set([token, ...ended.map(({ record }) => record.token)])
      const left = registered.filter(({ record }) => record.generation >= current && !gone.has(record.token))
      notes.add({ userId, at: createdAt, live: left.length + 1 })
    },
    announced(actions) {
      for (const [name, first, second] of actions) {
        if (name === 'sessmgr_session_started' && second.adopted) {
          notes.add({ userId: first.userId, at: first.createdAt, added: 1 })
        }
        // A login notes the number that is left.
        if (name === 'sessmgr_session_ended' && second.by?.token === undefined && first.generation >= generation) {
          notes.add({ userId: first.userId, ended: 1 })
        }
      }
    },
    loggedOut(logout, kept) {
      generation = logout.generation
      const at = logout.epoch * 1000
      void notes.clear(at)
      if (kept !== undefined) notes.add({ userId: kept, at, live: 1 })
    },
    close: () => notes.flush(),
  }
}
