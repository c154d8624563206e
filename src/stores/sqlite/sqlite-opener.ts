import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { invalidOption } from '../../ground/invalid-option.ts'
import { explainSqlite, type SqliteDatabase } from './sqlite-connection.ts'

type DatabaseClass = new (path: string) => SqliteDatabase

/** Node's own comes last, because some versions of it print a warning. */
const PACKAGES = ['better-sqlite3', 'libsql', 'node:sqlite']

/**
 * Finds the application's SQLite package and returns a function that opens a file with it. A missing file is created so
 * that only the owner of the process may read it.
 *
 * @param caller Function that the message names.
 * @throws SessmgrError `invalid_option` if there is no such package.
 */
export function sqliteOpener(path: string, caller = 'sqliteStore'): () => SqliteDatabase {
  const Database = findPackage(caller)
  return () => {
    createPrivately(path)
    try {
      return new Database(path)
    } catch (error) {
      throw explainSqlite(error)
    }
  }
}

/** Checks whether a path is a file, and not a database in memory or a URL. */
export function isFilePath(path: string): boolean {
  return !/^(:memory:|\w{2,}:)/.test(path)
}

/** Creates a file unless it exists. SQLite sets the same rights on its other files. */
function createPrivately(path: string): void {
  if (!isFilePath(path)) return
  try {
    // Never opens an existing file: closing it again would release the locks of SQLite in this process.
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // SQLite itself reports a path that cannot be used.
  }
}

/** Finds a package. An `import` would make bundlers require all three. */
function findPackage(caller: string): DatabaseClass {
  const places = [join(process.cwd(), 'package.json'), process.argv[1]].filter((it) => it !== undefined)
  for (const name of PACKAGES) {
    for (const place of places) {
      try {
        const loaded = createRequire(place)(name)
        return loaded.DatabaseSync ?? loaded
      } catch (error) {
        // Report a package that is installed but fails, for example because it was built for another version of Node.
        if (!/MODULE_NOT_FOUND|UNKNOWN_BUILTIN_MODULE/.test(String((error as { code?: unknown }).code))) throw error
      }
    }
  }
  throw invalidOption(
    `${caller}({ path }) found no package to open the file with. Run "npm install better-sqlite3" or ` +
      '"npm install libsql", or use Node 22.13 or newer, which includes SQLite',
  )
}
