import type { createClient } from 'redis'
import type { HttpLoad } from './http-load.ts'
import type { BenchApp } from './processes.ts'
import { shuffled } from './statistics.ts'

/** What one slice has cost. */
export interface Slice {
  readonly count: number
  readonly ms: number
  /** Microseconds of the application's CPU time. */
  readonly cpu: number
  /** Commands that Redis has carried out. */
  readonly commands: number
}

/** An application under one kind of load. */
export interface Subject {
  readonly name: string
  readonly app: BenchApp
  readonly load: HttpLoad
  next(): string
}

export type Redis = Pick<Awaited<ReturnType<ReturnType<typeof createClient>['connect']>>, 'info'>

/** Loads applications in short slices in a random order, so that a slow moment of the machine hits all alike. */
export async function inTurns(
  subjects: readonly Subject[],
  { rounds, sliceMs, redis }: { rounds: number; sliceMs: number; redis: Redis },
): Promise<Map<string, Slice[]>> {
  const slices = new Map<string, Slice[]>(subjects.map(({ name }) => [name, []]))
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    for (const subject of shuffled(subjects)) {
      const slice = await measure(subject, round < 0 ? sliceMs * 5 : sliceMs, redis)
      if (round >= 0) slices.get(subject.name)?.push(slice)
    }
  }
  return slices
}

async function measure({ app, load, next }: Subject, sliceMs: number, redis: Redis): Promise<Slice> {
  const [cpuBefore, commandsBefore] = [await app.ask('cpu'), await commandsOf(redis)]
  const { count, ms } = await load.slice(next, sliceMs)
  // Less the question for the number itself.
  const commands = (await commandsOf(redis)) - commandsBefore - 1
  return { count, ms, cpu: (await app.ask('cpu')) - cpuBefore, commands }
}

async function commandsOf(redis: Redis): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1])
}

/** Figures of all slices together. */
export function totals(slices: readonly Slice[]) {
  const sum = (key: keyof Slice) => slices.reduce((all, slice) => all + slice[key], 0)
  const count = sum('count')
  return { perSecond: (count / sum('ms')) * 1000, cpu: sum('cpu') / count, commands: sum('commands') / count }
}

/** Requests per second and CPU time per request as ratios to a yardstick: over all slices, and of each round. */
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
