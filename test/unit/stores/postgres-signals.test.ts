import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { postgresStore } from '../../../src/postgres.ts'

it('a store that is closed gives back its clients', async () => {
  for (const createTable of [true, false]) {
    let taken = 0
    const client = { query: async () => {}, on() {}, release: () => void taken-- }
    const connect = async () => {
      taken++
      return client
    }
    const store = postgresStore({ pool: { query: async () => ({ rows: [] }), connect } as never, createTable })
    await store.signals?.subscribe({ heard() {}, missed() {} })
    expect([taken, store.name]).toEqual([1, 'postgres'])
    await store.close()
    expect(taken, `createTable: ${createTable}`).toBe(0)
  }
})

describe('listeners of one pool', () => {
  const listener = { heard() {}, missed() {} }

  /** A pool that counts how many of its clients are taken. */
  function poolOf(max: number) {
    const clients = { taken: 0, isDown: false }
    const client = { query: async () => {}, on() {}, release: () => void clients.taken-- }
    const connect = async () => {
      if (clients.isDown) throw new Error('The database is down.')
      clients.taken++
      return client
    }
    const pool = { query: async () => ({ rows: [] }), connect, options: { max } } as never
    const signalsOf = (table: string) => {
      const { signals } = postgresStore({ pool, table })
      if (!signals) throw new Error('The store has no signals.')
      return signals
    }
    return { clients, signalsOf }
  }
  const refused = (max: number) =>
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(`Set its "max" to ${max} or`) })

  it('leave one client for everything else, also if they begin at the same time', async () => {
    const { clients, signalsOf } = poolOf(3)
    const calls = ['a', 'b', 'c'].map((table) => signalsOf(table).subscribe(listener))
    await expect(calls[2]).rejects.toEqual(refused(4))
    await Promise.all(calls.slice(0, 2))
    expect(clients.taken).toBe(2)
    await expect(poolOf(1).signalsOf('a').subscribe(listener)).rejects.toEqual(refused(2))
  })

  it('make room for another one once when they stop, and when they could not begin', async () => {
    const { clients, signalsOf } = poolOf(2)
    const [first, second] = [signalsOf('a'), signalsOf('b')]
    clients.isDown = true
    await expect(first.subscribe(listener)).rejects.toThrow('The database is down.')
    clients.isDown = false
    const withoutClients = postgresStore({ pool: { query: async () => ({ rows: [] }) } as never })
    await expect(withoutClients.signals?.subscribe(listener)).rejects.toThrow('This pool has no connect().')
    const stop = await first.subscribe(listener)
    await expect(second.subscribe(listener)).rejects.toEqual(refused(3))
    await stop()
    await stop()
    await second.subscribe(listener)
    await expect(first.subscribe(listener)).rejects.toEqual(refused(3))
    expect(clients.taken).toBe(1)
  })

  it('stay closed when they stop after their connection was lost', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const lost: Record<string, () => void> = {}
    const on = (event: string, handler: () => void) => Object.assign(lost, { [event]: handler })
    const connect = vi.fn(async () => ({ query: async () => {}, on, release() {} }))
    const pool = { query: async () => ({ rows: [] }), connect } as never
    const stop = await postgresStore({ pool }).signals?.subscribe(listener)
    lost.end?.()
    await stop?.()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(connect).toHaveBeenCalledTimes(1)
  })
})
