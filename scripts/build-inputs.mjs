import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const FILES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts/tsup.config.ts',
  'scripts/admin.config.ts',
]

/** The file in which a completed build stores the hash of its inputs. */
export const BUILD_STAMP = join(root, 'dist', '.built-from')

/** Hashes everything that the package is built from. */
export function hashOfBuildInputs() {
  const hash = createHash('sha256')
  const below = ['src', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  for (const file of [...FILES.map((name) => join(root, name)), ...below].sort()) {
    hash.update(`${file.slice(root.length)}\0`).update(readFileSync(file))
  }
  return hash.digest('hex')
}
