import { createRequire } from 'node:module'
import { join } from 'node:path'
import { invalidOption } from '../../ground/invalid-option.ts'
import type { SqliteDatabase } from './sqlite-driver.ts'

type DatabaseClass = new (path: string) => SqliteDatabase

/** That of Node comes last: some versions of it print a warning. */
const PACKAGES = ['better-sqlite3', 'libsql', 'node:sqlite']

/**
 * Finds the package that opens files of SQLite among those of the application, and returns what opens one.
 *
 * @throws SessmgrError `invalid_option` when there is no such package.
 */
export function sqliteOpener(path: string): () => SqliteDatabase {
  const Database = findPackage()
  return () => new Database(path)
}

/** Finds a package without an import: a bundler would look for all three. */
function findPackage(): DatabaseClass {
  const places = [join(process.cwd(), 'package.json'), process.argv[1]].filter((it) => it !== undefined)
  for (const name of PACKAGES) {
    for (const place of places) {
      try {
        const loaded = createRequire(place)(name)
        return loaded.DatabaseSync ?? loaded
      } catch (error) {
        // A package that is there and does not work, as when it was built for another Node, should say so.
        if (!/MODULE_NOT_FOUND|UNKNOWN_BUILTIN_MODULE/.test(String((error as { code?: unknown }).code))) throw error
      }
    }
  }
  throw invalidOption(
    'sqliteStore({ path }) finds no package to open the file with. Run "npm install better-sqlite3", or use Node 22.13 ' +
      'or newer, which has SQLite built in',
  )
}
