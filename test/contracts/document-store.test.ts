import { describe, expect, it } from 'vitest'
import { documentStore } from '../../src/document.ts'
import { fakeClock, registerDocumentDriverContract } from '../../src/testing.ts'
import { MemoryRows } from '../support/memory-driver.ts'
import { registerStoreContract } from './store/store-contract.ts'

describe('the driver contract on rows in memory', () => {
  registerDocumentDriverContract({
    describe,
    it,
    async create() {
      const clock = fakeClock()
      const rows = new MemoryRows(clock)
      const another = async () => rows.driver()
      return { driver: rows.driver(), another, pass: async (ms) => clock.advance(ms), close: async () => {} }
    },
  })
})

describe('the store contract on rows in memory', () => {
  registerStoreContract({
    describe,
    it,
    async create() {
      const clock = fakeClock()
      const rows = new MemoryRows(clock)
      const another = async () => documentStore(rows.driver())
      return {
        store: await another(),
        another,
        pass: async (ms) => clock.advance(ms),
        rewind: async (ms) => clock.advance(-ms),
        close: async () => {},
      }
    },
  })
})

describe('documentStore()', () => {
  it.each([
    [{ purge: undefined }, '"driver.purge" must be a function'],
    [{ signals: { publish: async () => {} } }, '"driver.signals.subscribe" must be a function'],
  ])('refuses a driver with %j', (part, message) => {
    expect(() => documentStore({ ...new MemoryRows().driver(), ...part } as never)).toThrow(message)
  })
})
