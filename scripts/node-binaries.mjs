// Finds programs of other versions of Node. They come from the npm package `node` when one is first asked for, and are
// stored in node_modules/.cache/nodes, where they survive an installation. As dependencies, each would cost every
// contributor 100 MB.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Returns the folder of the program `node` of a major version, which is the one that runs this if it fits.
 *
 * @param {string} version
 * @returns {string}
 */
export function folderOfNode(version) {
  if (version === process.versions.node.split('.')[0]) return dirname(process.execPath)
  const folder = join(root, 'node_modules', '.cache', 'nodes', version)
  const binaries = join(folder, 'node_modules', 'node', 'bin')
  if (existsSync(join(binaries, 'node'))) return binaries
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const install = ['install', '--no-audit', '--no-fund', `node@${version}`]
  const { status } = spawnSync('npm', install, { cwd: folder, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm could not install Node ${version}.`)
  return binaries
}
