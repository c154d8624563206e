// Runs the test suite on other versions of Node: `node scripts/test-nodes.mjs`, or `node scripts/test-nodes.mjs 22`.
import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { folderOfNode } from './node-binaries.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.argv.slice(2)
const versions = given.length > 0 ? given : ['20', '22', '24']

for (const version of versions) {
  const env = { ...process.env, PATH: [folderOfNode(version), process.env.PATH].join(delimiter) }
  const node = spawnSync('node', ['--version'], { env, encoding: 'utf8' })
  console.log(`The suite on Node ${node.stdout.trim()}`)
  const tests = [join('node_modules', 'vitest', 'vitest.mjs'), 'run']
  const { status } = spawnSync('node', tests, { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
