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
  it.each([
    ['settings list --format ids', 'maximum logic idle_release enforce\n'],
    ['settings get maximum', '1\n'],
    ['sessions list alice', 'alice has no live sessions.\n'],
    ['sessions count alice', '0\n'],
    ['app-passwords list alice', 'alice has no application passwords.\n'],
  ])('warns of what it reads: %s', async (line, out) => {
    for (const store of ['', 'store: memoryStore(),']) {
      expect(await runWith(store, line.split(' '))).toEqual({ code: 0, out, err: LOCAL_WARNING })
    }
  })

  it.each([
    ['settings set maximum 3'],
    ['sessions destroy alice --yes'],
    ['sessions destroy alice'],
    [`sessions destroy alice --yes --token ${'0'.repeat(64)}`],
    ['sessions destroy-all --yes'],
    ['app-passwords create alice --name backup'],
    ['app-passwords revoke alice some-id --yes'],
    ['uninstall --yes'],
    ['uninstall'],
  ])('refuses to change what nobody would see, before it asks: %s: 1', async (line) => {
    expect(await runWith('', line.split(' '))).toEqual({ code: 1, out: '', err: REFUSAL })
  })

  it.each([
    ['says that it is not', 'store: { ...memoryStore(), local: false },'],
    ['does not say', 'store: { ...memoryStore(), local: undefined },'],
  ])('is told from one that %s', async (_what, store) => {
    expect(await runWith(store, ['settings', 'set', 'maximum', '3'])).toEqual({
      code: 0,
      out: 'maximum is now 3.\n',
      err: '',
    })
    expect((await runWith(store, ['sessions', 'list', 'alice'])).err).toBe('')
  })
})
