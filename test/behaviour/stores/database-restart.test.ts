import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { type OpenDatabase, openOnPostgres, openOnSqlite, startDatabaseHost } from '../../support/database-host.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts'

let server: PostgresServer
let directory: string
beforeAll(async () => {
  server = await startPostgres()
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-restart-'))
})
afterAll(async () => {
  await server?.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** Opens what a process of the application opens. */
const databases: Record<string, () => OpenDatabase> = {
  PostgreSQL: () => openOnPostgres(server.pool()),
  SQLite: () => openOnSqlite(join(directory, 'app.db')),
}

describe.each(Object.entries(databases))('an application whose sessions are in %s', (_, open) => {
  const start = () => startDatabaseHost(open())
  const statuses = (browsers: readonly Browser[], { origin }: { origin: string }) =>
    Promise.all(browsers.map((browser) => browser.copy(origin).me()))

  test('rule 15: a logout of everybody, and the limit, survive a restart', async () => {
    const before = await start()
    const ended = [await before.signedIn('alice'), await before.signedIn('bob')]
    await before.limiter.sessions.logoutAllUsers()
    const kept = [await before.signedIn('alice'), await before.signedIn('alice')]
    await before.stop()

    const after = await start()
    onTestFinished(after.stop)
    expect(await statuses([...ended, ...kept], after)).toEqual([401, 401, 200, 200])
    const newest = await after.signedIn('alice')
    expect(await statuses([...kept, newest], after)).toEqual([401, 200, 200])
    expect([before.logs, after.logs]).toEqual([[], []])
  })

  test('rule 5: two processes share one limit', async () => {
    const processes = [await start(), await start()] as const
    onTestFinished(async () => void (await Promise.all(processes.map((each) => each.stop()))))
    const browsers: Browser[] = []
    for (let turn = 0; turn < 4; turn++) browsers.push(await processes[turn % 2 ? 1 : 0].signedIn('carol'))
    for (const process of processes) expect(await statuses(browsers, process)).toEqual([401, 401, 200, 200])
    expect(processes.map(({ logs }) => logs)).toEqual([[], []])
  })
})
