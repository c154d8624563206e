import Redis from 'ioredis'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { expect, it } from 'vitest'
import { sessmgr } from '../../../../src/index.ts'
import { fromIoredis, type RedisClient, type RedisStoreOptions, redisStore } from '../../../../src/redis.ts'

// Never connected: options are checked before anything is sent.
const client = createClient()
const ioredis = new Redis({ lazyConnect: true })
const withoutWait = { evalSha: client.evalSha, eval: client.eval, get: client.get }
const rootNodes = [{ url: 'redis://127.0.0.1:1' }]
const sentinels = { name: 'master', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }
const caching = { RESP: 3, clientSideCache: {} } as const
const CACHES = /clientSideCache.*Give both redisStore\(\) and the session store a client/
const CANNOT_WAIT = /"durability: 'replica'" needs a client with wait\(\)/

const invalid = (message: RegExp) =>
  expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) })

it('redisStore refuses what it cannot use, and names the cure', () => {
  const cases: Record<string, [options: unknown, message: RegExp]> = {
    'a mistyped option': [{ client, prefx: 'x:' }, /"prefx".*Did you mean "prefix"\?/],
    'an option that is like none': [{ client, colour: 'red' }, /^redisStore\(\) has no option "colour"\.$/],
    'no options': [undefined, /^"client" is missing\. .*redisStore\(\{ client \}\)/],
    'a client that is null': [{ client: null }, /^"client" is missing/],
    'the client in place of the options': [client, /redisStore\(\{ client \}\), not redisStore\(client\)/],
    'ioredis in place of the options': [ioredis, /redisStore\(\{ client \}\), not redisStore\(client\)/],
    'ioredis as it is': [{ client: ioredis }, /fromIoredis\(client\)/],
    'the session store as the client': [{ client: { get() {}, set() {} } }, /"client" has no evalSha\(\)/],
    'a URL as the client': [{ client: 'redis://127.0.0.1' }, /"client" has no evalSha\(\)/],
    'a client that caches': [{ client: createClient(caching) }, CACHES],
    'a pool that caches': [{ client: createClientPool({ RESP: 3 }, { clientSideCache: {} }) }, CACHES],
    'a cluster that caches': [{ client: createCluster({ ...caching, rootNodes }) }, CACHES],
    'a sentinel that caches': [{ client: createSentinel({ ...caching, ...sentinels }) }, CACHES],
    'a prefix that is no string': [{ client, prefix: 7 }, /"prefix" must be/],
    'an empty prefix': [{ client, prefix: '' }, /"prefix" must be a non-empty string/],
    'a prefix with a brace': [{ client, prefix: '{app}:' }, /"prefix".*braces/],
    'a deadline below 10 ms': [{ client, deadlineMs: 9 }, /"deadlineMs".*10 to 60000; got 9/],
    'a deadline above a minute': [{ client, deadlineMs: 60_001 }, /"deadlineMs".*got 60001/],
    'a broken deadline': [{ client, deadlineMs: 99.5 }, /"deadlineMs".*whole number/],
    'an unknown durability': [{ client, durability: 'disk' }, /'master' or 'replica'; got disk/],
    'an unclear tracking': [{ client, tracking: 'yes' }, /"tracking" must be true or false; got yes/],
    'replicas by a client that cannot wait': [{ client: withoutWait, durability: 'replica' }, CANNOT_WAIT],
    'replicas by a cluster of ioredis, which sends WAIT to any node': [
      { client: fromIoredis(new Redis.Cluster([], { lazyConnect: true })), durability: 'replica' },
      CANNOT_WAIT,
    ],
  }
  for (const [what, [options, message]] of Object.entries(cases)) {
    expect(() => redisStore(options as RedisStoreOptions), what).toThrow(invalid(message))
  }
  expect(() => sessmgr({ sessionStore: redisStore({ client }) })).toThrow(invalid(/"sessionStore"/))
  for (const given of [undefined, null, 'redis://127.0.0.1', {}, client]) {
    expect(() => fromIoredis(given as never)).toThrow(invalid(/ioredis package: it has no evalsha\(\)/))
  }
})

it('redisStore takes every kind of client, and undefined for the defaults', () => {
  const pool = createClientPool()
  for (const given of [client, pool, createCluster({ rootNodes }), fromIoredis(ioredis)] as RedisClient[]) {
    expect(redisStore({ client: given, durability: 'replica' }).name).toBe('redis')
  }
  const options = { client, prefix: undefined, deadlineMs: undefined, durability: undefined, tracking: undefined }
  expect(redisStore(options).name).toBe('redis')
  expect(redisStore({ client: withoutWait }).name).toBe('redis')
})
