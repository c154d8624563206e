import { expect, it } from 'vitest'
import { VERSION } from '../../../src/constants.ts'
import { runCli, runProgram } from '../../support/cli.ts'
import { SQLITE_ENGINES } from '../../support/sqlite-engines.ts'

/** Runs a command in a folder without a configuration. */
const bare = (...args: string[]) => runCli(args, { cwd: '/' })

it('rule 28: the version: 0', async () => {
  const version = { code: 0, out: `${VERSION}\n`, err: '' }
  expect(await runProgram(['--version'])).toEqual(version)
  expect(await bare('-V')).toEqual(version)
})

it('rule 28: help names every command, and needs no configuration: 0', async () => {
  for (const [line, commands] of Object.entries({
    '--help': ['sessions', 'users', 'explain', 'settings', 'app-passwords', 'license', 'doctor', 'schema', 'uninstall'],
    'sessions --help': ['list', 'count', 'destroy', 'destroy-all'],
    'help license': ['keygen', 'issue', 'inspect', 'revoke'],
    'app-passwords help': ['create', 'list', 'revoke'],
  })) {
    const { code, out, err } = await bare(...line.split(' '))
    expect([code, err]).toEqual([0, ''])
    for (const command of commands) expect(out, line).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
  }
})

it('rule 28: wrong usage is 2, with a word on what is wrong, before a configuration is looked for', async () => {
  for (const line of [
    '',
    'nonsense',
    'sessions',
    'sessions nonsense',
    'sessions list',
    'sessions destroy alice bob --yes',
    'sessions destroy alice --nonsense --yes',
    'sessions list alice --format',
    'sessions destroy-all alice --yes',
    'settings set maximum',
    'settings set maximum 1 2',
    'uninstall now --yes',
    '--config',
  ]) {
    const { code, out, err } = await bare(...line.split(' ').filter(Boolean))
    expect([code, out, err], line).toEqual([2, '', expect.stringMatching(/error:|Usage:/)])
  }
})

it('sessmgr schema prints the table of a database, which can be made any number of times under any name', async () => {
  for (const database of ['postgres', 'sqlite', 'mysql']) {
    const { code, out, err } = await bare('schema', database)
    expect([code, err]).toEqual([0, ''])
    for (const column of ['id', 'revision', 'body', 'expires_at']) {
      expect(out, database).toMatch(new RegExp(`^  ${column} +\\w`, 'm'))
    }
  }
  const { out } = await bare('schema', 'sqlite', '--table', 'own_name')
  const database = new (SQLITE_ENGINES.libsql as NonNullable<typeof SQLITE_ENGINES.libsql>)(':memory:')
  for (const _ of [1, 2]) database.exec(out)
  expect(database.prepare('SELECT count(*) AS count FROM own_name').all()[0]).toMatchObject({ count: 0 })
  database.close()
  const oracle = await bare('schema', 'oracle')
  expect([oracle.code, oracle.err]).toEqual([2, expect.stringContaining('postgres, sqlite, mysql')])
  const hostile = await bare('schema', 'sqlite', '--table', 'x; DROP TABLE users')
  expect(hostile).toMatchObject({ code: 1, out: '', err: expect.stringContaining('"table" must be a table name') })
})
