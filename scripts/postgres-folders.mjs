import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const DEBIAN = '/usr/lib/postgresql'

/**
 * Returns the folders in which Debian keeps PostgreSQL's server programs. They are not on the PATH. The newest version
 * comes first.
 */
export function postgresFolders() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(DEBIAN, version, 'bin'))
}
