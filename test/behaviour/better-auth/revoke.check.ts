import { it } from 'vitest'
import { CACHES, expectRevoked, REVOCATIONS, STORAGES } from '../../support/better-auth-revocations.ts'

// The campaign has every way with every storage and every cache. Here, the ways take turns with these.
const CELLS = STORAGES.flatMap((storage) => CACHES.map((cache) => [storage, cache] as const))
const WAYS = Object.keys(REVOCATIONS)
const CASES = CELLS.flatMap(([storage, cache], index) => {
  const way = (turn: number) => WAYS[(2 * index + turn) % WAYS.length] ?? ''
  return [
    [way(0), storage, cache, false],
    [way(1), storage, cache, true],
  ] as const
})

it.each(CASES)('%s has effect at once with sessions in %s, cache %s, bearer %s', expectRevoked)
