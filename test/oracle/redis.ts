import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inParallel } from '../support/in-parallel.ts'
import type { RedisPlace } from './driver/redis.ts'
import { namedHistories } from './histories/named.ts'
import { randomHistory } from './histories/random.ts'
import { bundle, CACHE } from './replay/bundle.ts'
import { compare } from './replay/compare.ts'
import { type CreatePlayer, play, type Transcript } from './replay/play.ts'
import { playInRealTime, timeless } from './replay/real-time.ts'

/** How many histories are under way at a time. */
const AT_ONCE = 20

interface OnRedis {
  readonly createPlayer: CreatePlayer
  readonly startPlace: () => Promise<RedisPlace>
}

/**
 * Compares what the recorded rules tell over the store in memory with what the rules of this checkout tell over a real
 * Redis server, in real time. Returns each difference in words.
 *
 * @param count How many random histories, besides the named ones.
 */
export async function replayOnRedis(count: number, recorded: string): Promise<readonly string[]> {
  const file = join(CACHE, `redis-${process.pid}.mjs`)
  await bundle('test/oracle/driver/redis.ts', file, { packages: 'external' })
  const { createPlayer: before } = (await import(pathToFileURL(recorded).href)) as { createPlayer: CreatePlayer }
  const { createPlayer, startPlace } = (await import(pathToFileURL(file).href)) as OnRedis
  const random = Array.from({ length: count }, (_, index) => randomHistory(index + 1))
  const histories = [...namedHistories, ...random].map(timeless)
  const expected: Transcript[] = []
  for (const history of histories) expected.push(await play(history, before))
  const place = await startPlace()
  try {
    const found = await inParallel(histories.length, AT_ONCE, (index) =>
      playInRealTime(histories[index] as (typeof histories)[number], createPlayer, place.open),
    )
    return histories.flatMap((history, index) => {
      const [one, other] = [expected[index], found[index]]
      return one && other ? (compare(history, one, other).difference?.words ?? []) : []
    })
  } finally {
    await place.stop()
    rmSync(file)
  }
}
