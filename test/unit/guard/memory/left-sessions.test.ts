import { expect, test } from 'vitest'
import { LeftSessions } from '../../../../src/guard/memory/left-sessions.ts'

test('a session that was left is remembered for two minutes, and of 10,000 the oldest is forgotten first', () => {
  const left = new LeftSessions()
  left.note('a', 1000)
  expect([left.has('a', 1000), left.has('a', 120_999), left.has('a', 121_000), left.has('b', 1000)]).toEqual([
    true,
    true,
    false,
    false,
  ])
  for (let index = 0; index < 10_000; index++) left.note(`other ${index}`, 1000)
  expect([left.has('a', 1000), left.has('other 0', 1000)]).toEqual([false, true])
})
