import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SessmgrStore, sessmgr } from '../../../src/index.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
import { passingTime } from '../../support/passing-time.ts'
import { raceProcesses } from '../../support/race-processes.ts'

let directory: string
let path: string
let store: SessmgrStore
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'sessmgr-sqlite-'))
  path = join(directory, 'sessmgr.db')
  store = sqliteStore({ path })
})
afterAll(async () => {
  await store.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('several processes on one file of SQLite', () => {
  it('rule 5: hold one limit, whatever their clocks say, and one that is killed takes no place from the others', async () => {
    const settings = { maximum: 2, logic: 'logout_oldest' }
    const race = { place: { path }, store, settings, users: [1, 2], logins: 60, processes: 3, killed: 1 }
    const { ended, mostAtOnce, left } = await raceProcesses(race)
    expect(ended).toEqual({ admitted: 120, refused: 0 })
    expect(mostAtOnce).toBeLessThanOrEqual(2)
    expect(left).toEqual([2, 2])
  })

  it('rule 15: a logout of everybody survives a restart, and so do the settings', async () => {
    const before = sessmgr({ store: sqliteStore({ path }) })
    await before.sessions.logoutAllUsers()
    await before.settings.update({ maximum: 7 })
    await before.close()
    const after = sessmgr({ store: sqliteStore({ path }) })
    expect(await after.sessions.count(1)).toBe(0)
    expect((await after.settings.get()).maximum).toBe(7)
    await after.close()
  })

  it('may open and close it as they like, or be killed, while another one uses it', async () => {
    const script = `const Database = require('libsql')
      for (let turn = 0; turn < 25; turn++) {
        const database = new Database(process.argv[1])
        database.exec('PRAGMA busy_timeout = 5000; CREATE TABLE IF NOT EXISTS other (n); INSERT INTO other VALUES (1)')
        if (turn % 5 === 0) database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
        if (process.argv[2] === 'killed' && turn === 20) process.kill(process.pid, 'SIGKILL')
        database.close()
      }`
    const pass = passingTime()
    const others = ['closed', 'killed', 'closed'].map((end) =>
      promisify(execFile)(process.execPath, ['-e', script, path, end]).catch(({ signal }) => signal),
    )
    let isOver = false
    const ending = Promise.all(others).finally(() => {
      isOver = true
    })
    let looks = 0
    for (; !isOver || looks < 20; looks++) {
      pass(1001)
      await store.transients.set('key', String(looks), 60_000_000)
      expect(await store.transients.get('key')).toBe(String(looks))
      // Calls of SQLite end within the turn, in which no other process can report that it has ended.
      await setImmediate()
    }
    expect((await ending)[1]).toBe('SIGKILL')
    expect((await ending)[0]).toMatchObject({ stderr: '' })
  })

  it('is readable only by its owner, with the files beside it', () => {
    const modes = readdirSync(directory).map((file) => statSync(join(directory, file)).mode & 0o777)
    expect(new Set(modes)).toEqual(new Set([0o600]))
  })
})
