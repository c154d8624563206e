// Runs the benchmark: `npm run bench` on Node 24, `npm run bench -- --nodes=24,20` compares several versions, of which
// the first runs what needs no application. bench/run.ts has the other options.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { folderOfNode } from './node-binaries.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { nodes } = parseArgs({ options: { nodes: { type: 'string', default: '24' } }, strict: false }).values
const programs = String(nodes)
  .split(',')
  .map((version) => join(folderOfNode(version), 'node'))
const env = {
  ...process.env,
  BENCH_NODES: programs.join(','),
  TSX_TSCONFIG_PATH: join(root, 'bench', 'tsconfig.json'),
}
const parameters = ['--import', 'tsx', join('bench', 'run.ts'), ...process.argv.slice(2)]
process.exitCode = spawnSync(programs[0] ?? '', parameters, { cwd: root, env, stdio: 'inherit' }).status ?? 1
