import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CliWorld, runCli, startCliWorld } from '../support/cli.ts'
import { pageAt, sectionOf, tableRows } from './pages.ts'

/** What the page says of each exit code, and a command line for each thing that it names; test/cli has that of output. */
const MEANINGS: readonly (readonly [code: string, meaning: string, commands: Readonly<Record<string, string>>])[] = [
  ['0', 'done', { done: 'settings get maximum' }],
  [
    '1',
    'refused, not found or not confirmed; or the configuration, a key, a list or the output cannot be read or written',
    {
      refused: 'settings set maximum 0',
      'not found': 'sessions list nobody',
      'not confirmed': 'sessions destroy alice',
      'the configuration cannot be read': '--config none.js settings list',
      'a key cannot be read': 'license inspect FOLDER/license --key FOLDER/none --issuer vendor',
      'a key cannot be written': 'license keygen FOLDER/none/key',
      'a list cannot be read':
        'license inspect FOLDER/license --key FOLDER/key --issuer vendor --revocations FOLDER/none',
      'a list cannot be written': 'license revoke id --key FOLDER/key --issuer vendor --list FOLDER/none/list',
    },
  ],
  [
    '2',
    'wrong usage: an unknown command or option, an invalid value of an option, or a missing option',
    {
      'an unknown command': 'lists',
      'an unknown option': 'settings list --colour',
      'an invalid value of an option': 'explain alice --maximum 0',
      'a missing option': 'app-passwords create alice',
    },
  ],
]

describe('the exit codes in docs/command-line.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-exit-'))
  let world: CliWorld
  beforeAll(async () => {
    world = await startCliWorld()
    await runCli(['license', 'keygen', join(folder, 'key')])
    writeFileSync(join(folder, 'license'), 'no license')
  }, 240_000)
  afterAll(async () => {
    await world.close()
    rmSync(folder, { recursive: true })
  })

  // Whoever words a cell anew looks here whether it is still what the program does.
  it('have the meanings that are tried here', () => {
    const rows = tableRows(sectionOf(pageAt('docs/command-line.md'), 'Exit codes').text)
    expect(rows).toEqual(MEANINGS.map(([code, meaning]) => [code, meaning]))
  })

  for (const [code, , commands] of MEANINGS) {
    it.each(Object.entries(commands))(`are ${code} for: %s`, async (_what, command) => {
      const { code: found, err } = await world.run(...command.replaceAll('FOLDER', folder).split(' '))
      expect(found, err).toBe(Number(code))
    })
  }
})
