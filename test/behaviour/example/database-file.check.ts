import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { ExampleProcess } from '../../support/example-process.ts'

it('the example remembers its sessions, and who was signed out, in a file that the command line shares', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sessmgr-example-db-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const env = { SESSMGR_DB: join(directory, 'example.db') }
  const start = () => ExampleProcess.start(env)
  const cookie = async (example: ExampleProcess) => {
    const body = new URLSearchParams({ username: 'alice', password: 'alice-password' })
    const answer = await fetch(`${example.origin}/login`, { method: 'POST', body, redirect: 'manual' })
    return answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  }
  const statuses = (example: ExampleProcess, cookies: readonly string[]) =>
    Promise.all(
      cookies.map(async (each) => (await fetch(`${example.origin}/me`, { headers: { cookie: each } })).status),
    )

  const before = await start()
  const cookies = [await cookie(before), await cookie(before)]
  expect(await statuses(before, cookies)).toEqual([401, 200])
  await before.stop()
  const after = await start()
  expect(await statuses(after, cookies)).toEqual([401, 200])
  expect(await statuses(after, [await cookie(after), ...cookies])).toEqual([200, 401, 401])
  expect((await runCli(['sessions', 'destroy', 'alice', '--yes'], { env })).out).toBe('Ended 1 session of alice.\n')
  expect((await runCli(['settings', 'set', 'maximum', '2'], { env })).code).toBe(0)
  const [older, newer] = [await cookie(after), await cookie(after)]
  expect(await statuses(after, [...cookies, older, newer])).toEqual([401, 401, 200, 200])
  await after.stop()
})
