import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { SQLITE_ENGINES } from '../../support/sqlite-engines.ts'

/** Runs the command in a folder without a configuration. */
const schema = (...args: string[]) => runCli(['schema', ...args], { cwd: '/' })

describe('sessmgr schema', () => {
  it.each(['postgres', 'sqlite', 'mysql'])('prints the table for %s, and needs no configuration', async (database) => {
    const { code, out, err } = await schema(database)
    expect([code, err]).toEqual([0, ''])
    for (const column of ['id', 'revision', 'body', 'expires_at'])
      expect(out).toMatch(new RegExp(`^  ${column} +\\w`, 'm'))
  })

  it('prints what SQLite takes, any number of times, with the name that was given', async () => {
    const { out } = await schema('sqlite', '--table', 'own_name')
    const database = new (SQLITE_ENGINES.libsql as NonNullable<typeof SQLITE_ENGINES.libsql>)(':memory:')
    for (const _ of [1, 2]) database.exec(out)
    expect(database.prepare('SELECT count(*) AS count FROM own_name').all()[0]).toMatchObject({ count: 0 })
    database.close()
  })

  it.each([
    [['oracle'], 2, 'Allowed choices are postgres, sqlite, mysql'],
    [[], 2, 'missing required argument'],
    [['sqlite', '--table', 'x; DROP TABLE users'], 1, '"table" must be a table name'],
  ])('refuses %j', async (args, status, sentence) => {
    const { code, out, err } = await schema(...args)
    expect([code, out]).toEqual([status, ''])
    expect(err).toContain(sentence)
  })
})
