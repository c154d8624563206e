import { expect, it } from 'vitest'
import { postgresStore } from '../../../../src/postgres.ts'

it.each([true, false])('a store that is closed gives back its clients, with createTable: %s', async (createTable) => {
  let taken = 0
  const client = { query: async () => {}, on() {}, release: () => void taken-- }
  const connect = async () => {
    taken++
    return client
  }
  const store = postgresStore({ pool: { query: async () => ({ rows: [] }), connect } as never, createTable })
  await store.signals?.subscribe({ heard() {}, missed() {} })
  expect(taken).toBe(1)
  await store.close()
  expect(taken).toBe(0)
})
