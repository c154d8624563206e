import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CliWorld, runProgram, startCliWorld } from '../../support/cli.ts'

let world: CliWorld
let folder: string
beforeAll(async () => {
  world = await startCliWorld()
  folder = mkdtempSync(join(tmpdir(), 'sessmgr-doctor-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await world.close()
})

/** Runs the command with a configuration of its own. */
function doctor(store: string, options = ''): ReturnType<typeof runProgram> {
  const from = (name: string) => JSON.stringify(import.meta.resolve(name))
  const dist = (name: string) => JSON.stringify(pathToFileURL(join(process.cwd(), 'dist', name)).href)
  const file = join(folder, `${Math.random()}.mjs`)
  writeFileSync(
    file,
    `import { RedisStore } from ${from('connect-redis')}
    import { createClient } from ${from('redis')}
    import { memoryStore, sessmgr } from ${dist('index.js')}
    import { redisStore } from ${dist('redis.js')}
    import { sqliteStore } from ${dist('sqlite.js')}
    const client = await createClient({ url: ${JSON.stringify(world.redis.url)} }).connect()
    const sessionStore = new RedisStore({ client })
    const limiter = sessmgr({ store: ${store}, ${options} })
    const { close } = limiter
    limiter.close = async () => { await close(); client.destroy() }
    export default limiter`,
  )
  return runProgram(['--config', file, 'doctor'])
}

it('sessmgr doctor says that the example application asks for nothing but the session', async () => {
  expect(await world.run('doctor')).toEqual({
    code: 0,
    out:
      'The store can be read and written.\n' +
      'Redis evicts no keys (maxmemory-policy noeviction).\n' +
      'Requests only read their session, because the store reports every change (watched).\n',
    err: '',
  })
})

it.each([
  ['redisStore({ client })', 'sessionStore', /\(watched\)\.\n$/],
  ['redisStore({ client })', '', /\(watched\)\.\nThe configuration has no session store/],
  ['redisStore({ client, tracking: false })', 'sessionStore', /\(not watched\): the "tracking" option is false\.\n$/],
  [
    "sqliteStore({ path: import.meta.dirname + '/sessmgr.db' })",
    '',
    /^The store can be read and written\.\nEach request asks/,
  ],
  ['memoryStore()', '', /\(not watched\): the store cannot report changes\.\n$/],
  [
    "(await client.configSet('tracking-table-max-keys', '1'), redisStore({ client }))",
    'sessionStore',
    /\(not watched\): the server immediately forgets the keys it should watch/,
  ],
])('sessmgr doctor says what holds of %s with %j', async (store, options, said) => {
  const { code, out } = await doctor(store, options)
  await doctor("(await client.configSet('tracking-table-max-keys', '1000000'), memoryStore())")
  expect(code).toBe(0)
  expect(out).toMatch(said)
})

it.each(['volatile-lru', 'allkeys-lru'])('sessmgr doctor fails if Redis may evict keys (%s)', async (policy) => {
  const evict = `await client.configSet('maxmemory-policy', '${policy}')`
  const { code, out, err } = await doctor(`(${evict}, redisStore({ client }))`, 'sessionStore')
  await doctor("(await client.configSet('maxmemory-policy', 'noeviction'), memoryStore())")
  expect(out).toContain('(watched)')
  const danger =
    /^Redis may evict all that is stored of users, which signs them out, .*\(maxmemory-policy .*\)\. Set .* noeviction\.\n$/m
  expect([code, err]).toEqual([1, expect.stringMatching(danger)])
  expect(err).toContain(policy)
})

it('sessmgr doctor reports that it may not ask whether Redis evicts keys', async () => {
  const blind = "await client.sendCommand(['ACL', 'SETUSER', 'blind', 'on', '>blind', '~*', '+@all', '-info'])"
  const client = 'await client.duplicate({ username: "blind", password: "blind" }).connect()'
  const { code, out } = await doctor(`(${blind}, redisStore({ client: ${client}, tracking: false }))`)
  expect(out).toMatch(/is unknown, because this user may not run INFO\. Set maxmemory-policy to noeviction\./)
  expect(code).toBe(0)
})

it('sessmgr doctor says what to do about a database that cannot be used', async () => {
  const { code, out, err } = await doctor("sqliteStore({ path: '/dev/null/none/sessmgr.db' })")
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain('The folder /dev/null/none of sqliteStore({ path }) does not exist. Create it')
})

it.each([
  [
    { requests: 1000, hits: 970, size: 20_000 },
    '97 % of the last 1000 signed-in requests',
    'remembered (sessionCacheSize 20000).',
  ],
  [
    { requests: 1000, hits: 20, size: 20_000 },
    '2 % of the last 1000 signed-in requests',
    'to query the store less. If many processes serve each user, set redisStore({ tracking: false })',
  ],
  [{ requests: 1000, hits: 150, size: 20_000 }, '15 % of', 'Set a larger sessionCacheSize to query the store less.\n'],
  [
    { requests: 8, hits: 2, size: 3 },
    '25 % of the last 8 signed-in requests',
    'Send each user to the same process to query',
  ],
])('sessmgr doctor shows how often a process remembered the session: %j', async (rate, share, rest) => {
  const text = JSON.stringify({ unasked: 0, capacity: 20_000, ...rate })
  const written = `await client.set('rates:t:cache-rate', ${JSON.stringify(`name ${JSON.stringify(text)}`)})`
  const { out } = await doctor(`(${written}, redisStore({ client, prefix: 'rates:' }))`, 'sessionStore')
  expect(out).toContain(share)
  expect(out).toContain(rest)
})
