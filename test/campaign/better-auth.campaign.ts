import { describe, it } from 'vitest'
import { CACHES, expectRevoked, REVOCATIONS, STORAGES } from '../support/better-auth-revocations.ts'
import { expectExact, type Limit } from '../support/better-auth-storm.ts'
import { WAYS } from '../support/better-auth-ways.ts'
import { expectExactProcesses, PLACES } from '../support/better-auth-workers.ts'

const MODES = ['logout_oldest', 'allow', 'block'] as const
const LIMITS: Limit[] = [1, 2, 3].flatMap((maximum) => MODES.map((logic) => ({ maximum, logic })))

describe.each(Object.entries(WAYS))('sign-ins by %s', (_, start) => {
  it.each(LIMITS)('20 and 200 at once never leave more than $maximum live in mode $logic', async (limit) => {
    await expectExact(start, 20, limit)
    await expectExact(start, 200, limit)
  })
})

it.each(Object.keys(PLACES))('three processes on %s keep the limit, although one is killed', (kind) =>
  expectExactProcesses(kind as keyof typeof PLACES, 200),
)

describe.each(STORAGES)('with sessions in %s', (storage) => {
  describe.each(CACHES)('and the cookie cache %s', (cache) => {
    it.each(Object.keys(REVOCATIONS))('%s has effect at once, and releases the slot', async (way) => {
      for (const isBearer of [false, true]) await expectRevoked(way, storage, cache, isBearer)
    })
  })
})
