import { describe, expect, it, onTestFinished } from 'vitest'
import { redisStore } from '../../../src/redis.ts'
import { connectRedis } from '../../support/redis-client.ts'
import { startRedis } from '../../support/redis-server.ts'

const DEADLINE_MS = 400

async function connectedStore() {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const client = await connectRedis(server.url)
  onTestFinished(() => client.destroy())
  const store = redisStore({ client, deadlineMs: DEADLINE_MS })
  await store.sessions.read('nobody')
  return { server, store }
}

function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** Fills every turn of the event loop, as several hashes of passwords do in JavaScript, for the duration of a task. */
async function whileHashing<T>(task: () => Promise<T>): Promise<T> {
  let isOn = true
  const hash = () => {
    block(60)
    if (isOn) setImmediate(hash)
  }
  for (let count = 0; count < 8; count++) setImmediate(hash)
  try {
    return await task()
  } finally {
    isOn = false
  }
}

describe('a process that is too busy to read responses', () => {
  it('does not take its own delay for a Redis that is not responding', async () => {
    const { store } = await connectedStore()
    const read = await whileHashing(async () => {
      const reads = []
      for (let user = 1; user <= 4; user++) {
        await new Promise(setImmediate)
        reads.push(await store.sessions.read(user))
      }
      return reads
    })
    expect(read.map(({ sessions }) => sessions)).toEqual([[], [], [], []])
  })

  it('still notices a Redis that is not responding', async () => {
    const { server, store } = await connectedStore()
    server.process.kill('SIGSTOP')
    onTestFinished(() => void server.process.kill('SIGCONT'))
    const reading = whileHashing(() => store.sessions.read(7))
    await expect(reading).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})
