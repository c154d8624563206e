import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
export const ESM = "import { sessmgr } from 'sessmgr'\n"

/** The line with the address of a section of docs/troubleshooting.md. */
export const see = (section: string) => `See node_modules/sessmgr/docs/troubleshooting.md#${section}\n`

/** The warning of a command whose limiter has a store in memory. */
export const LOCAL_WARNING =
  'Warning: this limiter uses a memory store, which other processes cannot see. The running application has its own data. ' +
  'Use a shared store: sqliteStore(), postgresStore() or redisStore().\n'

/** Makes a folder with files, inside this package, so that they find it by its name. */
export function folderWith(files: Record<string, string>, parent = join(ROOT, 'test-output')): string {
  mkdirSync(parent, { recursive: true })
  const folder = mkdtempSync(join(parent, 'config-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

/** Makes an application of its own, as `npm init -y` begins it: CommonJS, with packages to import. */
export function projectWith(files: Record<string, string>, packages: readonly string[] = []): string {
  const folder = folderWith({ 'package.json': '{ "type": "commonjs" }', ...files }, tmpdir())
  const link = (target: string, name: string) => {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(target, join(folder, 'node_modules', name))
  }
  link(ROOT, 'sessmgr')
  for (const name of packages) link(join(ROOT, 'node_modules', name), name)
  return folder
}
