import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CliWorld, runProgram, startCliWorld } from '../../support/cli.ts'
import { projectWith } from './config-folder.ts'

let world: CliWorld
beforeAll(async () => {
  world = await startCliWorld()
})
afterAll(() => world.close())

/** Runs the command with a configuration of its own. */
function doctor(store: string, options = ''): ReturnType<typeof runProgram> {
  const config = `import { RedisStore } from 'connect-redis'
import { createClient } from 'redis'
import { memoryStore, sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'
import { sqliteStore } from 'sessmgr/sqlite'
const client = await createClient({ url: '${world.redis.url}' }).connect()
const sessionStore = new RedisStore({ client })
const limiter = sessmgr({ store: ${store}, ${options} })
const { close } = limiter
limiter.close = async () => { await close(); client.destroy() }
export default limiter`
  const cwd = projectWith({ 'sessmgr.config.mjs': config }, ['redis', 'connect-redis', 'libsql'])
  return runProgram(['doctor'], { cwd })
}

it('sessmgr doctor says whether each request has to ask the store, and why', async () => {
  expect(await world.run('doctor')).toEqual({
    code: 0,
    out:
      'The store can be read and written.\n' +
      'Redis evicts no keys (maxmemory-policy noeviction).\n' +
      'Requests only read their session, because the store reports every change (tracking).\n',
    err: '',
  })
  const few = "(await client.configSet('tracking-table-max-keys', '1'), redisStore({ client }))"
  for (const [store, options, said] of [
    ['redisStore({ client })', '', /\(tracking\)\.\nThe configuration has no session store/],
    ['redisStore({ client, tracking: false })', 'sessionStore', /\(no tracking\): the "tracking" option is false\.\n$/],
    ["sqliteStore({ path: import.meta.dirname + '/sessmgr.db' })", '', /read and written\.\nEach request asks/],
    ['memoryStore()', '', /\(no tracking\): the store cannot report changes\.\n$/],
    [few, 'sessionStore', /\(no tracking\): the server immediately forgets the keys it should watch/],
  ] as const) {
    const { code, out } = await doctor(store, options)
    expect([code, out]).toEqual([0, expect.stringMatching(said)])
  }
  await world.client.configSet('tracking-table-max-keys', '1000000')
})

it('sessmgr doctor fails if Redis may evict keys, and reports that it may not ask', async () => {
  await world.client.configSet('maxmemory-policy', 'allkeys-lru')
  const { code, err } = await doctor('redisStore({ client })', 'sessionStore')
  await world.client.configSet('maxmemory-policy', 'noeviction')
  expect(code).toBe(1)
  expect(err).toMatch(
    /^Redis may evict .*, which signs them out, .*\(maxmemory-policy allkeys-lru\)\. Set .* noeviction\./m,
  )
  await world.client.sendCommand(['ACL', 'SETUSER', 'blind', 'on', '>blind', '~*', '+@all', '-info'])
  const blind = 'await client.duplicate({ username: "blind", password: "blind" }).connect()'
  const unknown = await doctor(`redisStore({ client: ${blind}, tracking: false })`)
  expect(unknown.code).toBe(0)
  expect(unknown.out).toMatch(/is unknown, because this user may not run INFO\. Set maxmemory-policy to noeviction\./)
})

it('sessmgr doctor says what to do about a database that cannot be used: 1', async () => {
  const { code, out, err } = await doctor("sqliteStore({ path: '/dev/null/none/sessmgr.db' })")
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain('The folder /dev/null/none of sqliteStore({ path }) does not exist. Create it')
})

it('sessmgr doctor shows how often a process remembered the session, with advice', async () => {
  const advice = 'to query the store less.'
  const untracked = 'If many processes serve each user, set redisStore({ tracking: false })'
  for (const [hits, size, share, rest] of [
    [970, 20_000, '97 % of the last 1000 signed-in requests', 'remembered (sessionCacheSize 20000).\n'],
    [150, 20_000, '15 % of', `Set a larger sessionCacheSize ${advice}\n`],
    [20, 20_000, '2 % of', `Set a larger sessionCacheSize ${advice} ${untracked}`],
    [250, 3, '25 % of', `Send each user to the same process ${advice}\n`],
  ] as const) {
    const text = JSON.stringify({ unasked: 0, capacity: 20_000, requests: 1000, hits, size })
    await world.client.set('rates:t:cache-rate', `name ${JSON.stringify(text)}`)
    const { out } = await doctor("redisStore({ client, prefix: 'rates:' })", 'sessionStore')
    expect(out).toContain(share)
    expect(out).toContain(rest)
  }
})
