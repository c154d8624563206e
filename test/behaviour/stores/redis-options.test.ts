import Redis from 'ioredis'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { describe, expect, it } from 'vitest'
import { sessmgr } from '../../../src/index.ts'
import { fromIoredis, type RedisClient, type RedisStoreOptions, redisStore } from '../../../src/redis.ts'

// Never connected: options are checked before anything is sent.
const client = createClient()
const ioredis = new Redis({ lazyConnect: true })
const withoutWait = { evalSha: client.evalSha, eval: client.eval, get: client.get }

const misuse = (options: unknown) => () => redisStore(options as RedisStoreOptions)
const invalid = (message: RegExp) =>
  expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) })

describe('redisStore refuses', () => {
  const cases: Record<string, [options: unknown, message: RegExp]> = {
    'a mistyped option, and names the nearest': [{ client, prefx: 'x:' }, /"prefx".*Did you mean "prefix"\?/],
    'an option in the wrong case': [{ client, deadlineMS: 100 }, /"deadlineMS".*Did you mean "deadlineMs"\?/],
    'an option that is like none, without a guess': [
      { client, colour: 'red' },
      /^redisStore\(\) has no option "colour"\.$/,
    ],
    'no options': [undefined, /^"client" is missing\. .*redisStore\(\{ client \}\)/],
    'no client': [{}, /^"client" is missing/],
    'a client that is null': [{ client: null }, /^"client" is missing/],
    'the client in place of the options': [client, /redisStore\(\{ client \}\), not redisStore\(client\)/],
    'a client of ioredis in place of the options': [ioredis, /redisStore\(\{ client \}\), not redisStore\(client\)/],
    'a client of ioredis as it is, and says what to do': [{ client: ioredis }, /fromIoredis\(client\)/],
    'the session store in place of the client': [{ client: { get() {}, set() {} } }, /"client" has no evalSha\(\)/],
    'a URL in place of the client': [{ client: 'redis://127.0.0.1' }, /"client" has no evalSha\(\)/],
    'a client that caches, from which an ended session would still be live': [
      { client: createClient({ RESP: 3, clientSideCache: {} }) },
      /clientSideCache.*Give both redisStore\(\) and the session store a client/,
    ],
    'a pool that caches': [
      { client: createClientPool({ RESP: 3 }, { clientSideCache: {} }) },
      /clientSideCache.*Give both redisStore\(\) and the session store a client/,
    ],
    'a cluster that caches': [
      { client: createCluster({ RESP: 3, rootNodes: [{ url: 'redis://127.0.0.1:1' }], clientSideCache: {} }) },
      /clientSideCache.*Give both redisStore\(\) and the session store a client/,
    ],
    'a sentinel that caches': [
      {
        client: createSentinel({
          RESP: 3,
          name: 'master',
          sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }],
          clientSideCache: {},
        }),
      },
      /clientSideCache.*Give both redisStore\(\) and the session store a client/,
    ],
    'a prefix that is no string': [{ client, prefix: 7 }, /"prefix" must be/],
    'a prefix with a brace': [{ client, prefix: '{app}:' }, /"prefix".*braces/],
    'a deadline below 10 ms': [{ client, deadlineMs: 9 }, /"deadlineMs".*10 to 60000; got 9/],
    'a deadline above a minute': [{ client, deadlineMs: 60_001 }, /"deadlineMs".*got 60001/],
    'a broken deadline': [{ client, deadlineMs: 99.5 }, /"deadlineMs".*whole number/],
    'a deadline that is no number': [{ client, deadlineMs: '100' }, /"deadlineMs".*got the string '100'\.$/],
    'an unknown durability': [{ client, durability: 'disk' }, /'master' or 'replica'; got disk/],
    'an unclear tracking': [{ client, tracking: 'yes' }, /"tracking" must be true or false; got yes/],
    'to ask for replicas through a client that cannot': [
      { client: withoutWait, durability: 'replica' },
      /"durability: 'replica'" needs a client with wait\(\)/,
    ],
    'to ask for replicas through a cluster of ioredis, which sends WAIT to any node': [
      { client: fromIoredis(new Redis.Cluster([], { lazyConnect: true })), durability: 'replica' },
      /"durability: 'replica'" needs a client with wait\(\)/,
    ],
  }
  for (const [what, [options, message]] of Object.entries(cases)) {
    it(what, () => expect(misuse(options)).toThrow(invalid(message)))
  }

  it('itself in place of a session store, when it is handed to sessmgr as one', () => {
    expect(() => sessmgr({ sessionStore: redisStore({ client }) })).toThrow(invalid(/"sessionStore"/))
  })
})

describe('fromIoredis refuses', () => {
  it.each([undefined, null, 'redis://127.0.0.1', {}, client])('what is no client of ioredis, at once (%#)', (given) => {
    expect(() => fromIoredis(given as never)).toThrow(invalid(/ioredis package: it has no evalsha\(\)/))
  })
})

describe('redisStore takes', () => {
  const clients: Record<string, RedisClient> = {
    'a client': client,
    'a pool': createClientPool(),
    'a cluster': createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] }),
    'a client of ioredis in its wrapper': fromIoredis(ioredis),
  }
  for (const [what, given] of Object.entries(clients)) {
    it(`${what}, with replicas and without`, () => {
      expect(redisStore({ client: given }).name).toBe('redis')
      expect(redisStore({ client: given, durability: 'replica' }).name).toBe('redis')
    })
  }

  it('undefined for the default', () => {
    const options = { client, prefix: undefined, deadlineMs: undefined, durability: undefined, tracking: undefined }
    expect(redisStore(options).name).toBe('redis')
  })

  it('a client with nothing but what it needs', () => {
    expect(redisStore({ client: withoutWait }).name).toBe('redis')
  })
})
