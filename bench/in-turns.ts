import type { createClient } from 'redis'
import type { HttpLoad } from './http-load.ts'
import type { BenchApp } from './processes.ts'
import { shuffled } from './statistics.ts'

/** The cost of one slice. */
export interface Slice {
  readonly count: number
  readonly ms: number
  /** Microseconds of the application's CPU time. */
  readonly cpu: number
  /** Number of Redis commands or database statements that were run. */
  readonly commands: number
}

/** An application under one kind of load. */
export interface Subject {
  readonly name: string
  readonly app: BenchApp
  readonly load: HttpLoad
  next(): string
}

/** Counts what the database has run, for this application or in total. */
type CountCommands = (app: BenchApp) => Promise<number>

export type Redis = Pick<Awaited<ReturnType<ReturnType<typeof createClient>['connect']>>, 'info'>

/** Counts the commands that a Redis server has run, except those that count. */
export function redisCommands(redis: Redis): () => Promise<number> {
  let own = 0
  return async () => Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]) - own++
}

/** Loads applications in short slices in random order, so that slow moments of the machine affect all of them alike. */
export async function inTurns(
  subjects: readonly Subject[],
  { rounds, sliceMs, commands }: { rounds: number; sliceMs: number; commands: CountCommands },
): Promise<Map<string, Slice[]>> {
  const slices = new Map<string, Slice[]>(subjects.map(({ name }) => [name, []]))
  // The first round is a warm-up.
  for (let round = -1; round < rounds; round++) {
    for (const subject of shuffled(subjects)) {
      const slice = await measure(subject, round < 0 ? sliceMs * 5 : sliceMs, commands)
      if (round >= 0) slices.get(subject.name)?.push(slice)
    }
  }
  return slices
}

async function measure({ app, load, next }: Subject, sliceMs: number, commands: CountCommands): Promise<Slice> {
  const [cpuBefore, commandsBefore] = [await app.ask('cpu'), await commands(app)]
  const { count, ms } = await load.slice(next, sliceMs)
  const sent = (await commands(app)) - commandsBefore
  return { count, ms, cpu: (await app.ask('cpu')) - cpuBefore, commands: sent }
}

/** Returns the figures of all slices together. */
export function totals(slices: readonly Slice[]) {
  const sum = (key: keyof Slice) => slices.reduce((all, slice) => all + slice[key], 0)
  const count = sum('count')
  return { perSecond: (count / sum('ms')) * 1000, cpu: sum('cpu') / count, commands: sum('commands') / count }
}

/**
 * Returns requests per second and CPU time per request as ratios to a yardstick, over all slices and for each round.
 */
export function ratios(slices: readonly Slice[], yardstick: readonly Slice[]) {
  const [mine, its] = [totals(slices), totals(yardstick)]
  const rounds = slices.map((slice, round) => {
    const [one, other] = [totals([slice]), totals([yardstick[round] ?? slice])]
    return { perSecond: one.perSecond / other.perSecond, cpu: one.cpu / other.cpu }
  })
  return {
    perSecond: mine.perSecond / its.perSecond,
    cpu: mine.cpu / its.cpu,
    perSecondRounds: rounds.map(({ perSecond }) => perSecond),
    cpuRounds: rounds.map(({ cpu }) => cpu),
  }
}
