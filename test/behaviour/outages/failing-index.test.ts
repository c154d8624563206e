import { describe, expect, it } from 'vitest'
import { type DocumentDriver, documentStore } from '../../../src/document.ts'
import type { Logger, SessmgrStore } from '../../../src/index.ts'
import { type RedisClient, redisStore } from '../../../src/redis.ts'
import { createLimiterWorld } from '../../support/limiter-world.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import { useRedis } from '../../support/use-redis.ts'

const redis = useRedis()

const FAILURES = {
  hangs: () => new Promise<never>(() => {}),
  rejects: () => Promise.reject(new Error('down')),
  throws: (): never => {
    throw new Error('down')
  },
}

type Fail = (typeof FAILURES)[keyof typeof FAILURES]

/** Stores in which only the index of people fails. */
const STORES: Record<string, (fail: Fail) => SessmgrStore> = {
  'a database'(fail) {
    const driver = new MemoryRows().driver()
    const isIndex = (key: string) => key.startsWith('i:')
    const failing: DocumentDriver = {
      ...driver,
      get: (keys) => (keys.some(isIndex) ? fail() : driver.get(keys)),
      swap: (key, ...row) => (isIndex(key) ? fail() : driver.swap(key, ...row)),
    }
    return documentStore(failing, { deadlineMs: 500 })
  },
  Redis(fail) {
    const { client } = redis
    const isIndex = ({ keys = [] }: { keys?: string[] }) => keys.some((key) => key.includes('people'))
    const failing: RedisClient = {
      evalSha: (sha1, call) => (isIndex(call as never) ? fail() : client.evalSha(sha1, call)),
      eval: (text, call) => client.eval(text, call),
      get: (key) => client.get(key),
    }
    return redisStore({ client: failing, tracking: false })
  },
}

describe.each(Object.entries(STORES))('an index in %s', (_, storeOf) => {
  it.each(Object.entries(FAILURES))('that %s lets the next login through at once', async (_, fail) => {
    const store = storeOf(fail)
    Object.assign(store.people as object, { collectMs: 1 })
    let warn: Logger['warn'] = () => {}
    const warning = new Promise((resolve) => {
      warn = resolve
    })
    const world = createLimiterWorld({ directory: true, store, logger: { warn, error() {} } })
    expect(await world.login('a')).toBeDefined()
    expect(await warning).toContain('No login is affected')
    expect(await world.login('a')).toBeDefined()
    await world.limiter.close()
  })
})
