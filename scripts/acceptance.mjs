// Runs the acceptance: the tests that ask what an application and its users see, so that they stay green whatever changes
// inside. Prints what passed and failed in each part, and fails if a part does. Not part of it: tests of the inside, in
// test/unit and in those files of test/behaviour/stores that read the keys of a store.
//   node scripts/acceptance.mjs                                every part, without neighbours
//   node scripts/acceptance.mjs hosts rest                     these parts
//   node scripts/acceptance.mjs neighbours --clones=../clones  the folder with their clones
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const NODE = ['--project', 'node', '--project', 'check']

/** Prefixes names with a folder. */
const within = (folder, names) => names.split(' ').map((name) => `test/${folder}/${name}`)

/** The parts, each with the arguments for vitest, or with a command of its own. */
const PARTS = {
  hosts: [...NODE, 'test/behaviour/hosts/'],
  behaviour: [
    ...NODE,
    ...within('behaviour', 'account/ activity/ addon-role-limits/ addons/ better-auth/ choice/ comments/ endings/'),
    ...within('behaviour', 'cli/ live/ logins/ outages/ screen/ set-up/'),
  ],
  stores: [
    ...NODE,
    ...within('behaviour/stores', 'clock-set-back database-restart erase-user redis-cluster redis-durability'),
    ...within('behaviour/stores', 'redis-failure redis-faults redis-freshness redis-kinds redis-operation redis-races'),
    ...within('behaviour/stores', 'redis-return redis-self-healing redis-watch-host sqlite-processes'),
  ],
  rest: [...NODE, 'test/behaviour/rest/'],
  contracts: [...NODE, 'test/contracts/'],
  example: [...NODE, 'test/behaviour/example/'],
  docs: [
    ...NODE,
    ...within(
      'docs',
      'better-auth.check channel-recipes choice-recipes code-blocks commands curl doc-examples examples',
    ),
    ...within('docs', 'exit-codes frozen-names jwt-recipes limit-recipes newcomer recipes websocket'),
  ],
  browser: ['--project', 'browser'],
  campaign: ['--config', 'scripts/campaign.config.ts', 'test/campaign/'],
  neighbours: 'scripts/neighbours.mjs',
}

const { values, positionals } = parseArgs({ options: { clones: { type: 'string' } }, allowPositionals: true })
const unknown = positionals.filter((name) => !Object.hasOwn(PARTS, name))
if (unknown.length > 0) {
  throw new Error(`Unknown parts: ${unknown.join(', ')}. Choose from ${Object.keys(PARTS).join(', ')}.`)
}
if (positionals.includes('neighbours') && !values.clones) throw new Error('Pass the folder with the clones: --clones=…')
const chosen = Object.keys(PARTS).filter((name) =>
  positionals.length > 0 ? positionals.includes(name) : name !== 'neighbours' || values.clones,
)

const scratch = mkdtempSync(join(tmpdir(), 'sessmgr-acceptance-'))
const results = chosen.map((name) => ({ part: name, ...run(name, PARTS[name]) }))
rmSync(scratch, { recursive: true })
console.table(results)
process.exitCode = results.every(({ result }) => result === 'passed') ? 0 : 1

/** Runs a part, with its output shown. Counts are missing if the part is no suite of vitest. */
function run(name, part) {
  console.log(`\n${name}`)
  const report = join(scratch, `${name}.json`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const [program, ...args] = Array.isArray(part)
    ? ['node_modules/.bin/vitest', 'run', ...part, ...reporters]
    : [process.execPath, part, values.clones]
  const begun = performance.now()
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' })
  return {
    result: status === 0 ? 'passed' : 'failed',
    ...(Array.isArray(part) && countsIn(report)),
    seconds: Math.round((performance.now() - begun) / 1000),
  }
}

/** Reads how many tests passed and failed. Returns nothing if vitest did not come to an end. */
function countsIn(report) {
  try {
    const { numPassedTests: passed, numFailedTests: failed } = JSON.parse(readFileSync(report, 'utf8'))
    return { passed, failed }
  } catch {
    return {}
  }
}
