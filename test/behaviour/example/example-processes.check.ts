import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../../examples/express-app/config.ts'
import { nightLimit } from '../../../examples/express-app/night-limit.ts'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { runCli } from '../../support/cli.ts'
import { createExample } from '../../support/example-app.ts'
import { ExampleProcess } from '../../support/example-process.ts'
import { ownFolder } from '../../support/own-folder.ts'
import { startRedis } from '../../support/redis-server.ts'

async function start(env: Record<string, string> = {}): Promise<ExampleProcess> {
  const example = await ExampleProcess.start(env)
  onTestFinished(async () => void (await example.stop()))
  return example
}

/** The environment with a database in a new file. */
function withFile() {
  const directory = ownFolder()
  return { SESSMGR_DB: join(directory, 'example.db') }
}

/** Signs alice in, and returns the cookie of her session. */
async function signIn({ origin }: ExampleProcess): Promise<string> {
  const body = new URLSearchParams({ username: 'alice', password: 'alice-password' })
  const answer = await fetch(`${origin}/login`, { method: 'POST', body, redirect: 'manual' })
  return answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
}

const statuses = ({ origin }: ExampleProcess, cookies: readonly string[]) => {
  const ask = (cookie: string) => fetch(`${origin}/me`, { headers: { cookie, connection: 'close' } })
  return Promise.all(cookies.map(async (cookie) => (await ask(cookie)).status))
}

test('npm start keeps everything in memory, allows one session, and says so; SIGTERM ends it, also in a request', async () => {
  const example = await start()
  expect(example.output).toContain('All data is in memory.')
  expect(example.output).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/m)
  const [laptop, phone] = [await example.signedIn('alice'), await example.signedIn('alice')]
  expect([await laptop.me(), await phone.me()]).toEqual([401, 200])
  const ended = { hook: 'sessmgr_destroy_all_sessions', args: [2] }
  expect(example.actions(ended.hook)).toEqual([ended])
  const cut = phone.hold('/note', { text: 'x' })
  expect(await phone.me()).toBe(200)
  expect(await example.stop()).toEqual({ code: 0, signal: null })
  await expect(cut.finish()).rejects.toThrow()
  await expect(phone.get('/')).rejects.toThrow()
})

test('a wrong variable is refused at the start, and several processes that share no memory', async () => {
  await expect(ExampleProcess.start({ PORT: 'http' })).rejects.toThrow('PORT must be a whole number; it is "http".')
  expect(() => readConfig({ WEB_CONCURRENCY: '2' })).toThrow('WEB_CONCURRENCY above 1 needs REDIS_URL or SESSMGR_DB')
})

test('a file remembers sessions, and who was signed out, and is shared with the command line', async () => {
  const env = withFile()
  const before = await start(env)
  const cookies = [await signIn(before), await signIn(before)]
  expect(await statuses(before, cookies)).toEqual([401, 200])
  await before.stop()
  const after = await start(env)
  expect(await statuses(after, cookies)).toEqual([401, 200])
  expect(await statuses(after, [await signIn(after), ...cookies])).toEqual([200, 401, 401])
  expect((await runCli(['sessions', 'destroy', 'alice', '--yes'], { env })).out).toBe('Ended 1 session of alice.\n')
  expect((await runCli(['settings', 'set', 'maximum', '2'], { env })).code).toBe(0)
  const [older, newer] = [await signIn(after), await signIn(after)]
  expect(await statuses(after, [...cookies, older, newer])).toEqual([401, 401, 200, 200])
})

test('rule 5: two processes on Redis sign out the first of three browsers at maximum 2, whichever answers', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const mode = { SESSMGR_MAXIMUM: '2', SESSMGR_LOGIC: 'logout_oldest' }
  const example = await start({ REDIS_URL: server.url, WEB_CONCURRENCY: '2', ...mode })
  const cookies: string[] = []
  for (let browser = 0; browser < 3; browser++) cookies.push(await signIn(example))
  for (let turn = 0; turn < 6; turn++) expect(await statuses(example, cookies)).toEqual([401, 200, 200])
})

test('the key that is printed on request activates Role Limits, in every process with the same secret', async () => {
  const env = withFile()
  const example = await start({ ...env, ADDON_LICENSE: '1' })
  const printed = /enter this license key at (\S+):\n(\S+)\n/
  await expect.poll(() => example.output).toMatch(printed)
  const [, address, key = ''] = printed.exec(example.output) ?? []
  expect(address).toBe(`${example.origin}/admin/addons`)

  const { limiter, close } = await createExample({ SESSION_SECRET: 'test', ...env })
  onTestFinished(close)
  expect((await limiter.addons.list()).items.map(({ id, is_premium }) => [id, is_premium])).toEqual([
    [7001, true],
    [7002, false],
  ])
  expect(await limiter.addons.activate(7001, key)).toMatchObject({ is_license_active: true })

  const other = await createExample({ SESSION_SECRET: 'another secret of the example', ...env })
  onTestFinished(other.close)
  expect(await other.limiter.addons.isLicensed(7001)).toBe(false)
})

test('Night Limit sets a limit from midnight to six', async () => {
  const limiter = sessmgr({ store: memoryStore(), settings: { maximum: 5 } })
  onTestFinished(() => limiter.close())
  let hour = 5
  nightLimit(limiter, 'pk_night', () => hour)
  await limiter.options.get('night_limit')?.update({ maximum: 1 })
  expect(await limiter.settings.maximumOf(2)).toBe(1)
  hour = 6
  expect(await limiter.settings.maximumOf(2)).toBe(5)
})
