import { expect, it, vi } from 'vitest'
import { lostState } from '../../../src/guard/ended-state.ts'
import type { EndedCause } from '../../../src/index.ts'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { createGuardWorld } from '../../support/guard-world.ts'

const CAUSE: EndedCause = { kind: 'displaced', at: 1, device: 'Chrome on Windows' }

/** A guard whose limiter knows these causes, the next one at each question. */
function guardKnowing(...causes: (EndedCause | undefined)[]) {
  const world = createGuardWorld()
  const asked = vi.spyOn(world.limiter, 'causeOf').mockImplementation(async () => causes.shift())
  return { ...world, asked }
}

it('of a session that is over is asked for once it is known, and not again', async () => {
  const { guard, asked, signIn, endInRegistry } = guardKnowing(CAUSE)
  await signIn('a', 7)
  await endInRegistry(7, 'a')
  const ended = { reason: 'ended', cause: CAUSE }
  expect(await guard.load('a')).toEqual({ ended })
  expect(await guard.load('a')).toEqual({ ended })
  expect(asked.mock.calls).toEqual([[tokenOf('a'), 'ended']])
})

it('of a session that the store no longer has is asked for by its id', async () => {
  const { guard, asked } = guardKnowing(CAUSE)
  const ended = { reason: 'missing', cause: CAUSE }
  expect(await guard.load('a')).toEqual({ ended })
  expect(await guard.load('a')).toEqual({ ended })
  expect(asked.mock.calls).toEqual([[tokenOf('a'), 'missing']])
})

it.each([
  ['ended', 'missing'],
  ['logout_all', 'logout_all'],
] as const)('of a session that was found %s is asked for again while it is unknown', async (reason, as) => {
  const { guard, asked } = guardKnowing(undefined, CAUSE)
  guard.endings.set('a', { reason })
  expect(await lostState(guard, 'a')).toEqual({ reason })
  expect(await lostState(guard, 'a')).toEqual({ reason, cause: CAUSE })
  expect(await lostState(guard, 'a')).toEqual({ reason, cause: CAUSE })
  expect(asked.mock.calls).toEqual([
    [tokenOf('a'), as],
    [tokenOf('a'), as],
  ])
})

it('of a live session and of a visitor is not asked for', async () => {
  const { guard, asked, calls, signIn } = guardKnowing()
  await signIn('a', 7)
  await calls.set('visitor', { cart: 1 })
  await guard.load('a')
  await guard.load('visitor')
  expect(asked).not.toHaveBeenCalled()
})
