import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SessmgrStore, sessmgr } from '../../../src/index.ts'
import { sqliteStore } from '../../../src/sqlite.ts'
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

  it('is readable only by its owner, with the files beside it', () => {
    const modes = readdirSync(directory).map((file) => statSync(join(directory, file)).mode & 0o777)
    expect(new Set(modes)).toEqual(new Set([0o600]))
  })
})
