import { expect, it } from 'vitest'
import { type DocumentDriver, documentStore } from '../../../src/document.ts'
import type { SessmgrStore } from '../../../src/index.ts'
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

it.each(Object.entries(STORES))(
  'an index in %s that hangs, rejects or throws lets logins through at once',
  async (_, storeOf) => {
    for (const [how, fail] of Object.entries(FAILURES)) {
      const store = storeOf(fail)
      Object.assign(store.people as object, { collectMs: 1 })
      const warnings: string[] = []
      const logger = { warn: (message: string) => void warnings.push(message), error() {} }
      const world = createLimiterWorld({ directory: true, store, logger })
      expect(await world.login('a'), how).toBeDefined()
      await expect.poll(() => warnings.join(), { message: how }).toContain('No login is affected')
      expect(await world.login('a'), how).toBeDefined()
      await world.limiter.close()
    }
  },
)
