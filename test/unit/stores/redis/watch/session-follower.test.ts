import { describe, expect, it } from 'vitest'
import { FollowedUsers } from '../../../../../src/stores/redis/watch/session-follower.ts'

describe('the users that are followed', () => {
  it('are one and the same for a key, as long as it is valid', () => {
    const users = new FollowedUsers(20_000)
    const alice = users.of('alice')
    expect(users.of('alice')).toBe(alice)
    expect(users.of('bob')).not.toBe(alice)
    users.drop('alice')
    expect(alice.valid).toBe(false)
    expect(users.of('alice')).not.toBe(alice)
    expect(users.of('alice').valid).toBe(true)
  })

  it('are not disturbed by a key that is not followed', () => {
    const users = new FollowedUsers(20_000)
    const alice = users.of('alice')
    users.drop('bob')
    expect(alice.valid).toBe(true)
  })

  it('are all dropped at once', () => {
    const users = new FollowedUsers(20_000)
    const [alice, bob] = [users.of('alice'), users.of('bob')]
    users.dropAll()
    expect([alice.valid, bob.valid]).toEqual([false, false])
    expect(users.of('alice').valid).toBe(true)
  })

  it('make room when there are too many: one that was used lately is kept, and what makes room is valid no more', () => {
    const users = new FollowedUsers(2)
    const [alice, bob] = [users.of('alice'), users.of('bob')]
    alice.used = true
    users.of('carol')
    expect([alice.valid, bob.valid]).toEqual([true, false])
    // It was used before, and not since.
    users.of('dave')
    users.of('erin')
    expect(alice.valid).toBe(false)
  })

  it('make room though all were used', () => {
    const users = new FollowedUsers(3)
    const all = ['a', 'b', 'c'].map((key) => users.of(key))
    for (const user of all) user.used = true
    users.of('d')
    expect(all.map(({ valid }) => valid)).toEqual([false, true, true])
  })
})
