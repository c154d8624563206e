import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const cache = join(import.meta.dirname, '../../node_modules/.cache')

/**
 * Installs packages that only the campaign uses, in a folder of the cache: as dependencies, they would cost every
 * contributor hundreds of megabytes. Returns the folder's path.
 *
 * @param packages Versions by name. Their own scripts do not run.
 */
export function installPackages(name: string, packages: Readonly<Record<string, string>>): string {
  const folder = join(cache, name)
  const isThere = (given: string) => existsSync(join(folder, 'node_modules', given, 'package.json'))
  const manifest = join(folder, 'package.json')
  const wanted = JSON.stringify({ private: true, dependencies: packages })
  const isSame = existsSync(manifest) && readFileSync(manifest, 'utf8') === wanted
  if (isSame && Object.keys(packages).every(isThere)) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(manifest, wanted)
  const flags = ['--no-audit', '--no-fund', '--no-save', '--no-package-lock', '--ignore-scripts', '--force']
  const { status, stderr } = spawnSync('npm', ['install', ...flags], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm could not install ${Object.keys(packages).join(' and ')}: ${stderr}`)
  return folder
}
