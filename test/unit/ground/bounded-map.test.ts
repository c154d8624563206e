import { describe, expect, it } from 'vitest'
import { BoundedMap } from '../../../src/ground/bounded-map.ts'

describe('a bounded map', () => {
  it('holds as many entries as it has room for, and forgets the oldest for one more', () => {
    const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2)
    expect([...map]).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    expect([...map.set('c', 3).keys()]).toEqual(['b', 'c'])
  })

  it('takes an entry that is set again for its newest, and forgets nothing for it', () => {
    const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2).set('a', 3)
    expect([...map]).toEqual([
      ['b', 2],
      ['a', 3],
    ])
    expect([...map.set('c', 4).keys()]).toEqual(['a', 'c'])
  })
})
