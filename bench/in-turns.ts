import { createClient } from 'redis'
import { type Exchanged, type HttpLoad, httpLoad } from './http-load.ts'
import { type BenchApp, type BenchNode, NODES } from './processes.ts'
import { shuffled, withQuartiles } from './statistics.ts'

const SLICE_MS = 150

/** The cost of one slice. */
export interface Slice {
  readonly count: number
  readonly ms: number
  /** Microseconds of the application's CPU time. */
  readonly cpu: number
  /** Number of Redis commands or database statements that were run. */
  readonly commands: number
  /** Microseconds of the Redis server's CPU time. */
  readonly serverCpu: number
}

/** An application under one kind of load. */
interface Subject {
  readonly name: string
  readonly app: BenchApp
  readonly load: HttpLoad
  readonly next: () => Exchanged
}

/** What the database has done so far. */
export type Usage = Pick<Slice, 'commands' | 'serverCpu'>

/** Measures what a Redis server has done, except for those who measure. */
export async function redisUsage(url: string) {
  const client = await createClient({ url }).connect()
  let own = 0
  return {
    async usage(): Promise<Usage> {
      const info = await client.info()
      const number = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
      const serverCpu = (number('used_cpu_sys') + number('used_cpu_user')) * 1e6
      return { commands: number('total_commands_processed') - own++, serverCpu }
    },
    stop: () => client.destroy(),
  }
}

/** The applications to compare: each kind on each version of Node. */
export interface Contest<Of extends string> {
  readonly kinds: readonly Of[]
  readonly nodes?: readonly BenchNode[]
  readonly connections: number
  readonly rounds: number
  readonly sliceMs?: number
  start(kind: Of, node: BenchNode): Promise<BenchApp>
  /** Prepares an application, and returns what makes its requests. */
  prepare(app: BenchApp, load: HttpLoad, kind: Of): Promise<() => Exchanged>
  usage?(app: BenchApp): Promise<Usage>
}

/** The slices of one version of Node. */
export interface Result<Of extends string> {
  readonly node: BenchNode
  readonly slices: Readonly<Record<Of, readonly Slice[]>>
}

/**
 * Loads applications in short slices in random order, so that slow moments of the machine affect all of them alike.
 */
export async function inTurns<Of extends string>(contest: Contest<Of>): Promise<Result<Of>[]> {
  const { kinds, nodes = NODES, rounds, sliceMs = SLICE_MS } = contest
  const slices = new Map<string, Slice[]>()
  const subjects: Subject[] = []
  const nameOf = (kind: Of, { name }: BenchNode) => `${kind} ${name}`
  for (const node of nodes) {
    for (const kind of kinds) {
      const app = await contest.start(kind, node)
      const load = await httpLoad(app.ports, contest.connections)
      subjects.push({ name: nameOf(kind, node), app, load, next: await contest.prepare(app, load, kind) })
      slices.set(nameOf(kind, node), [])
    }
  }
  // The first round is a warm-up.
  for (let round = -1; round < rounds; round++) {
    for (const subject of shuffled(subjects)) {
      const slice = await measure(subject, round < 0 ? sliceMs * 5 : sliceMs, contest.usage)
      if (round >= 0) slices.get(subject.name)?.push(slice)
    }
  }
  for (const { app, load } of subjects) {
    load.close()
    app.stop()
  }
  return nodes.map((node) => {
    const own = kinds.map((kind) => [kind, slices.get(nameOf(kind, node)) ?? []])
    return { node, slices: Object.fromEntries(own) as Record<Of, Slice[]> }
  })
}

async function measure({ app, load, next }: Subject, sliceMs: number, usage: Contest<string>['usage']): Promise<Slice> {
  const [cpuBefore, before] = [await app.ask('cpu'), await usage?.(app)]
  const { count, ms } = await load.slice(next, sliceMs)
  const after = await usage?.(app)
  const used = (key: keyof Usage) => (after?.[key] ?? 0) - (before?.[key] ?? 0)
  const cpu = (await app.ask('cpu')) - cpuBefore
  return { count, ms, cpu, commands: used('commands'), serverCpu: used('serverCpu') }
}

/** Returns the figures of all slices together. */
export function totals(slices: readonly Slice[]) {
  const sum = (key: keyof Slice) => slices.reduce((all, slice) => all + slice[key], 0)
  const count = sum('count')
  const each = (key: keyof Slice) => sum(key) / count
  return {
    perSecond: (count / sum('ms')) * 1000,
    cpu: each('cpu'),
    commands: each('commands'),
    serverCpu: each('serverCpu'),
  }
}
type Figure = keyof ReturnType<typeof totals>

/** Returns a figure as a ratio to a yardstick, over all slices, and formatted with the range of the rounds. */
export function ratio(
  slices: readonly Slice[],
  yardstick: readonly Slice[],
  figure: Figure,
): { readonly value: number; readonly text: string } {
  const value = totals(slices)[figure] / totals(yardstick)[figure]
  const rounds = slices.map((slice, round) => totals([slice])[figure] / totals([yardstick[round] ?? slice])[figure])
  return { value, text: withQuartiles(value, rounds) }
}
