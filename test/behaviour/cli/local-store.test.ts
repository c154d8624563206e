import { describe, expect, it } from 'vitest'
import { runCli } from '../../support/cli.ts'
import { folderWith, LOCAL_WARNING } from './config-folder.ts'

const HOST = `{
  users: {
    findById: () => undefined,
    findByEmail: () => undefined,
    findByLogin: (login) => login === 'alice' ? { id: 2, login } : undefined,
    summary: ({ id, login }) => ({ id, login, display_name: login }),
  },
  can: () => true,
}`

const config = (store: string) => `import { memoryStore, sessmgr } from 'sessmgr'
export default sessmgr({ ${store} host: ${HOST} })`

const runWith = (store: string, args: readonly string[]) =>
  runCli(args, { cwd: folderWith({ 'sessmgr.config.mjs': config(store) }) })

const REFUSAL =
  'Nothing was changed: this limiter uses a memory store, which other processes cannot see. ' +
  'Use a shared store: sqliteStore(), postgresStore() or redisStore().\n'

describe('rule 28: a limiter whose store is of its own process alone', () => {
  it('warns of what it reads', async () => {
    for (const [line, out] of [
      ['settings get maximum', '1\n'],
      ['sessions list alice', 'alice has no live sessions.\n'],
      ['app-passwords list alice', 'alice has no application passwords.\n'],
    ] as const) {
      expect(await runWith('', line.split(' '))).toEqual({ code: 0, out, err: LOCAL_WARNING })
    }
  })

  it('refuses to change what nobody would see, before it asks: 1', async () => {
    for (const line of [
      'settings set maximum 3',
      'settings reset',
      'sessions destroy alice',
      'sessions destroy-all --yes',
      'users erase alice',
      'app-passwords create alice --name backup',
      'app-passwords revoke alice some-id --yes',
      'uninstall',
    ]) {
      expect(await runWith('', line.split(' ')), line).toEqual({ code: 1, out: '', err: REFUSAL })
    }
  })

  it('is told from one whose store says that it is not, or does not say', async () => {
    for (const local of ['false', 'undefined']) {
      const store = `store: { ...memoryStore(), local: ${local} },`
      expect(await runWith(store, ['settings', 'set', 'maximum', '3'])).toEqual({
        code: 0,
        out: 'maximum is now 3.\n',
        err: '',
      })
      expect((await runWith(store, ['sessions', 'list', 'alice'])).err).toBe('')
    }
  })
})
