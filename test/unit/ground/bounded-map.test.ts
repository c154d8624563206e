import { describe, expect, it } from 'vitest'
import { BoundedMap } from '../../../src/ground/bounded-map.ts'
import { collectGarbage } from '../../support/heap.ts'

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

  it('forgets the oldest until the others weigh no more than it can hold', () => {
    const map = new BoundedMap<string, string>(10, ({ length }) => length).set('a', '1234').set('b', '1234')
    map.delete('c')
    expect([...map.set('c', '12').keys()]).toEqual(['a', 'b', 'c'])
    expect([...map.set('c', '1234567').keys()]).toEqual(['c'])
    map.delete('c')
    expect([...map.set('d', '12345').set('e', '12345').keys()]).toEqual(['d', 'e'])
    expect(map.set('f', 'more than it can hold').size).toBe(0)
    map.clear()
    expect(map.set('g', '1234567890').size).toBe(1)
  })

  it('keeps no memory for the tables that it has outgrown', () => {
    const heap = () => {
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const map = new BoundedMap<number, number>(100)
    // The first entry to be evicted is known from here on.
    for (let n = 0; n < 101; n++) map.set(n, n)
    for (let n = 1; n < 101; n++) map.delete(n)
    const before = heap()
    for (let n = 0; n < 200_000; n++) map.set(n % 4, n)
    expect(map.size).toBe(4)
    expect(heap() - before).toBeLessThan(2_000_000)
  })
})
