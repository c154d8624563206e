import { setTimeout as sleep } from 'node:timers/promises'
import type { SessmgrStore } from '../../src/index.ts'
import { isCurrent } from '../../src/sessions/session-record.ts'
import { type CalledProcess, startCalled } from './called-process.ts'
import type { ObservedCommit } from './judge-commit.ts'
import { highestWhile } from './watch-count.ts'
import type { LimitSettings } from './whole-settings.ts'

/** How processes race. */
export interface ProcessRace {
  /** Location of the data: a SQLite file, the host of PostgreSQL, or the URL of Redis and the client for it. */
  readonly place:
    | { readonly path: string }
    | { readonly host: string }
    | { readonly url: string; readonly client?: 'ioredis' | 'cluster' }
  /** The same data, as read by this process. */
  readonly store: SessmgrStore
  readonly settings: LimitSettings
  readonly users: readonly number[]
  /** Number of logins per process. */
  readonly logins: number
  readonly processes: number
  /** How many logins of each process are in progress at once. @default 20 */
  readonly inFlight?: number
  /** How long a call to Redis or SQLite may take. @default as in an application */
  readonly deadlineMs?: number
  /** Whether the processes also end sessions, with every available call. */
  readonly endsToo?: boolean
  /**
   * Whether the processes also use sessions, end them, log everybody out, and pass chosen sessions, at random. They then
   * note every commit.
   */
  readonly mixes?: boolean
  /** Pending logins, which the processes take in turn instead of logging users in. */
  readonly secrets?: readonly string[]
  /** How many of the processes are killed after a third of their logins. */
  readonly killed?: number
  /** Runs when the last process has done a third of its logins. */
  readonly meanwhile?: () => Promise<void>
  /** Runs over and over, as long as the processes run. */
  readonly repeatedly?: () => Promise<unknown>
}

/** A commit, and the user and version on which it was based. */
type RacedCommit = ObservedCommit & { readonly base: string }

interface Announced {
  readonly started: readonly string[]
  readonly ended: readonly string[]
}

interface Report {
  readonly ended: Readonly<Record<string, number>>
  readonly kinds: Readonly<Record<string, number>>
  readonly announced: Announced
  readonly commits: readonly RacedCommit[]
}

const NOTHING: Report = { ended: {}, kinds: {}, commits: [], announced: { started: [], ended: [] } }

/** The result of a race. */
export interface ProcessRaceResult {
  /** Number of logins by outcome, without killed processes: `admitted`, `refused`, or the code of an error. */
  readonly ended: Readonly<Record<string, number>>
  /** Tokens of the sessions whose start and end the processes announced. */
  readonly announced: Announced
  /** Number of announced ends by kind. */
  readonly kinds: Readonly<Record<string, number>>
  /** What was committed, with `mixes`. */
  readonly commits: readonly RacedCommit[]
  /** The highest number of live sessions of one user at any moment. */
  readonly mostAtOnce: number
  /** How many live sessions each user has at the end. */
  readonly left: readonly number[]
}

/** Signs the same users in from several processes at once, and watches the registry in the meantime. */
export async function raceProcesses(race: ProcessRace): Promise<ProcessRaceResult> {
  const { store, users, processes, killed = 0, meanwhile, repeatedly } = race
  const children: CalledProcess[] = []
  try {
    const starting = Array.from({ length: processes }, async (_, n) => {
      children[n] = await launch(race, n)
    })
    await Promise.all(starting)
    const run = async (child: CalledProcess, n: number) => {
      const report = child.call<Report>('signIn')
      // Besides that it is ready, a process tells only this.
      const aThird = child.until(({ length }) => length > 1)
      aThird.then(n === processes - 1 ? meanwhile : undefined).catch(() => {})
      if (n >= killed) return report
      report.catch(() => {})
      await aThird
      await child.kill()
      return NOTHING
    }
    /** While the database is away, there is nothing to see. */
    const mostOfOne = async () => {
      const counts = await countLive(store, users).catch(() => [])
      await repeatedly?.()
      return Math.max(0, ...counts)
    }
    const races = () => Promise.all(children.map(run))
    const { result: all, highest: mostAtOnce } = await highestWhile(mostOfOne, races, () => sleep(2))
    const left = await countLive(store, users)
    const announced = {
      started: all.flatMap((report) => report.announced.started),
      ended: all.flatMap((report) => report.announced.ended),
    }
    const [ended, kinds] = [sum(all.map(({ ended }) => ended)), sum(all.map(({ kinds }) => kinds))]
    return { ended, kinds, announced, commits: all.flatMap(({ commits }) => commits), mostAtOnce, left }
  } finally {
    await Promise.all(children.map((child) => child.kill()))
  }
}

function launch({ place, settings, inFlight = 20, ...race }: ProcessRace, n: number): Promise<CalledProcess> {
  const { users, logins, endsToo, mixes, secrets, deadlineMs } = race
  // Their clocks are an hour ahead, correct, and an hour behind.
  const skewMs = ((n % 3) - 1) * 3_600_000
  const spec = { ...place, settings, users, logins, inFlight, skewMs, endsToo, mixes, secrets, deadlineMs }
  return startCalled('login-process.mjs', spec)
}

/** Counts the live sessions of each user. Sessions from before a site-wide logout are registered, but not live. */
async function countLive(store: SessmgrStore, users: readonly number[]): Promise<readonly number[]> {
  const reads = await Promise.all(users.map((user) => store.sessions.read(user)))
  const epoch = await store.epoch.current()
  return reads.map(({ sessions }) => sessions.filter(({ record }) => isCurrent(epoch, record)).length)
}

function sum(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const each of all) for (const [key, count] of Object.entries(each)) total[key] = (total[key] ?? 0) + count
  return total
}
