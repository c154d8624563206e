// Runs the test suite on other versions of Node: `npm run test:nodes`, or `npm run test:nodes -- 22`. The binaries come
// from the npm package `node` and are stored in node_modules/.cache/nodes, where they survive an installation.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.argv.slice(2)
const versions = given.length > 0 ? given : ['20', '22', '24']

for (const version of versions) {
  const binaries = version === process.versions.node.split('.')[0] ? '' : binariesOf(version)
  const PATH = [binaries, process.env.PATH].filter(Boolean).join(delimiter)
  const node = spawnSync('node', ['--version'], { env: { ...process.env, PATH }, encoding: 'utf8' })
  console.log(`The suite on Node ${node.stdout.trim()}`)
  run('node', [join('node_modules', 'vitest', 'vitest.mjs'), 'run'], { ...process.env, PATH })
}

function binariesOf(version) {
  const folder = join(root, 'node_modules', '.cache', 'nodes', version)
  const binaries = join(folder, 'node_modules', 'node', 'bin')
  if (existsSync(join(binaries, 'node'))) return binaries
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  run('npm', ['install', '--no-audit', '--no-fund', `node@${version}`], process.env, folder)
  return binaries
}

function run(command, parameters, env, cwd = root) {
  const { status } = spawnSync(command, parameters, { cwd, env, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
