import { describe, expect, it } from 'vitest'
import { SeenSessions } from '../../../../src/guard/memory/seen-sessions.ts'
import { tokenOf } from '../../../../src/sessions/session-record.ts'

const CAPACITY = 20_000

function noteMany(seen: SeenSessions, from: number, to: number): void {
  for (let user = from; user < to; user++) seen.note(`id ${user}`, user, `token ${user}`)
}

describe('SeenSessions', () => {
  it('remembers the user of a session, in the type that was given, and the token', () => {
    const seen = new SeenSessions()
    seen.note('a', 7, tokenOf('a'))
    seen.note('b', '7', tokenOf('b'))
    expect(seen.get('a')).toMatchObject({ userId: 7, token: tokenOf('a') })
    expect(seen.get('b')).toMatchObject({ userId: '7', token: tokenOf('b') })
    expect(seen.get('c')).toBeUndefined()
  })

  it('remembers the last of two users of one id, and nothing of the first', () => {
    const seen = new SeenSessions()
    seen.note('a', 7, tokenOf('a'))
    seen.noteTouch('a', {}, 60_000)
    seen.note('a', 8, tokenOf('a'))
    expect(seen.get('a')).toMatchObject({ userId: 8, session: { userId: 8, token: tokenOf('a') } })
    expect(seen.isFresh('a', {})).toBe(false)
  })

  it('takes a session that it sees for the first time for one whose use was never noted', () => {
    const seen = new SeenSessions()
    seen.note('a', 7, tokenOf('a'))
    expect(seen.isFresh('a', {})).toBe(false)
  })

  it('keeps when the use of a session was noted while the session is seen again', () => {
    const seen = new SeenSessions()
    seen.note('a', 7, tokenOf('a'))
    seen.noteTouch('a', {}, 60_000)
    for (const same of [7, '7']) seen.note('a', same, tokenOf('a'))
    expect(seen.isFresh('a', {})).toBe(true)
  })

  it('shows requests one object that they cannot change', () => {
    const seen = new SeenSessions()
    seen.note('a', 7, tokenOf('a'))
    const { session } = seen.get('a') ?? {}
    expect(session).toEqual({ userId: 7, token: tokenOf('a') })
    expect(() => Object.assign(session ?? {}, { userId: 8 })).toThrow(TypeError)
  })

  it('forgets a session on demand, and an unknown one without complaint', () => {
    const seen = new SeenSessions()
    seen.note('a', 7, tokenOf('a'))
    seen.delete('a')
    seen.delete('a')
    expect(seen.get('a')).toBeUndefined()
  })

  it('knows nothing of names that every object has', () => {
    const seen = new SeenSessions()
    for (const name of ['__proto__', 'constructor', 'toString']) expect(seen.get(name)).toBeUndefined()
  })

  it('holds 20,000 sessions, and forgets the oldest for the next', () => {
    const seen = new SeenSessions()
    noteMany(seen, 0, CAPACITY)
    expect(seen.get('id 0')?.userId).toBe(0)
    noteMany(seen, CAPACITY, CAPACITY + 3)
    const users = [0, 1, 2, 3, CAPACITY + 2].map((user) => seen.get(`id ${user}`)?.userId)
    expect(users).toEqual([undefined, undefined, undefined, 3, CAPACITY + 2])
  })

  it('keeps a session that was seen again before those that were not', () => {
    const seen = new SeenSessions()
    noteMany(seen, 0, CAPACITY)
    noteMany(seen, 0, 1)
    noteMany(seen, CAPACITY, CAPACITY + 1)
    expect([seen.get('id 0')?.userId, seen.get('id 1')?.userId]).toEqual([0, undefined])
  })

  it('forgets nothing when all that it holds is seen again', () => {
    const seen = new SeenSessions()
    noteMany(seen, 0, CAPACITY)
    noteMany(seen, 0, CAPACITY)
    expect([seen.get('id 0')?.userId, seen.get(`id ${CAPACITY - 1}`)?.userId]).toEqual([0, CAPACITY - 1])
  })

  it('knows whether it has ever seen one', () => {
    const seen = new SeenSessions()
    expect(seen.hasSeen).toBe(false)
    seen.note('a', 7, tokenOf('a'))
    seen.delete('a')
    expect(seen.hasSeen).toBe(true)
  })

  it('takes no note of the use of a session that it does not know', () => {
    const seen = new SeenSessions()
    seen.noteTouch('a', {}, 60_000)
    expect(seen.get('a')).toBeUndefined()
  })
})
