import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { SessmgrStore } from '../../src/index.ts'
import { isCurrent } from '../../src/sessions/session-record.ts'
import { hasEnded } from './has-ended.ts'
import type { ObservedCommit } from './judge-commit.ts'
import { killProcess } from './kill-process.ts'
import type { LimitSettings } from './whole-settings.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

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
  const children = Array.from({ length: processes }, (_, n) => launch(race, n))
  try {
    await Promise.all(children.map(({ said }) => said('"ready"')))
    const watch = watchUsers(store, users, repeatedly)
    for (const { child } of children) child.stdin?.write('go\n')
    const results = children.map(async ({ child, said }, n) => {
      if (n === processes - 1 && meanwhile) said('"a third"').then(meanwhile, () => {})
      if (n >= killed) return JSON.parse(await said('{')) as Report
      await said('"a third"')
      child.kill('SIGKILL')
      return NOTHING
    })
    const all = await Promise.all(results)
    const mostAtOnce = await watch.stop()
    const left = await countLive(store, users)
    const announced = {
      started: all.flatMap((report) => report.announced.started),
      ended: all.flatMap((report) => report.announced.ended),
    }
    const [ended, kinds] = [sum(all.map(({ ended }) => ended)), sum(all.map(({ kinds }) => kinds))]
    return { ended, kinds, announced, commits: all.flatMap(({ commits }) => commits), mostAtOnce, left }
  } finally {
    await Promise.all(children.map(({ child }) => killProcess(child)))
  }
}

function launch({ place, settings, inFlight = 20, ...race }: ProcessRace, n: number) {
  const { users, logins, endsToo, mixes, secrets, deadlineMs } = race
  // Their clocks are an hour ahead, correct, and an hour behind.
  const skewMs = ((n % 3) - 1) * 3_600_000
  const spec = { ...place, settings, users, logins, inFlight, skewMs, endsToo, mixes, secrets, deadlineMs }
  const child = spawn(process.execPath, [new URL('login-process.mjs', import.meta.url).pathname], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, LOGINS: JSON.stringify(spec) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const look of waiting) look()
  }
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    lines.push(line)
    wake()
  })
  child.once('close', wake)
  /** Resolves with the line that starts with this string; rejects if the process ends without it. */
  const said = (start: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const line = lines.find((it) => it.startsWith(start))
        if (line !== undefined) resolve(line)
        else if (hasEnded(child)) reject(new Error(`The process ended with ${child.exitCode ?? child.signalCode}.`))
        else return
        waiting.delete(look)
      }
      waiting.add(look)
      look()
    })
  return { child, said }
}

/** Counts the live sessions of each user. Sessions from before a site-wide logout are registered, but not live. */
async function countLive(store: SessmgrStore, users: readonly number[]): Promise<readonly number[]> {
  const reads = await Promise.all(users.map((user) => store.sessions.read(user)))
  const epoch = await store.epoch.current()
  return reads.map(({ sessions }) => sessions.filter(({ record }) => isCurrent(epoch, record)).length)
}

/** Counts the users' sessions over and over. While the database is away, there is nothing to see. */
function watchUsers(store: SessmgrStore, users: readonly number[], repeatedly: ProcessRace['repeatedly']) {
  let running = true
  let mostAtOnce = 0
  const watching = (async () => {
    while (running) {
      const counts = await countLive(store, users).catch(() => [])
      await repeatedly?.()
      mostAtOnce = Math.max(mostAtOnce, ...counts)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  })()
  return {
    async stop() {
      running = false
      await watching
      return mostAtOnce
    },
  }
}

function sum(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {}
  for (const each of all) for (const [key, count] of Object.entries(each)) total[key] = (total[key] ?? 0) + count
  return total
}
