// Measures how many planted mistakes the tests notice, folder by folder, and fails if a folder is below its threshold:
//   node scripts/mutation.mjs            every folder
//   node scripts/mutation.mjs auth       these folders
//   node scripts/mutation.mjs --sample   of each folder, every sixth 20 lines: minutes instead of hours
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The least score of each folder, in percent, and the tests that judge its mistakes. Slow ones would take days. */
const FOLDERS = {
  strategies: [
    95,
    'unit/strategies',
    'unit/limiter',
    'unit/features',
    'behaviour/logins/{limit,never-used}.test.ts',
    'behaviour/account',
  ],
  options: [
    95,
    'unit/options',
    'unit/service',
    'behaviour/rest/settings',
    'behaviour/stores/{site-option,database-options}.test.ts',
    'behaviour/activity',
    'behaviour/logins/limit.test.ts',
    'behaviour/endings/max-age.test.ts',
    'unit/limiter/decision/{evaluate,explain}-login.test.ts',
  ],
  auth: [
    95,
    'unit/auth',
    'unit/features',
    'behaviour/rest/callers',
    'behaviour/endings/{erased-user,secrecy,session-pair}.test.ts',
    'behaviour/stores/erasures.test.ts',
    'behaviour/activity/audit-option.test.ts',
    'contracts/store-values.test.ts',
    'behaviour/account',
  ],
  limiter: [92, 'unit/limiter', 'behaviour/logins', 'behaviour/endings/!(token-sessions).test.ts'],
  door: [
    90,
    'unit/door',
    'behaviour/logins',
    'behaviour/endings/!(token-sessions).test.ts',
    'behaviour/set-up/silent-failures.test.ts',
    'behaviour/hosts/hosts.test.ts',
    'behaviour/hosts/notice.check.ts',
  ],
  stores: [
    85,
    'unit/stores',
    'unit/limiter/admit-login.test.ts',
    'unit/limiter/decision/many-sessions.test.ts',
    'contracts',
    'behaviour/stores',
    'contracts/drivers.check.ts',
    'behaviour/set-up/newcomer-mistakes.test.ts',
    'behaviour/jwt/attacks.test.ts',
    'behaviour/endings/erased-user.test.ts',
  ],
}

const LINES = 20
const EVERY = 6

const root = fileURLToPath(new URL('..', import.meta.url))
const isSample = process.argv.includes('--sample')
const given = process.argv.slice(2).filter((one) => one !== '--sample')
const unknown = given.filter((name) => !Object.hasOwn(FOLDERS, name))
if (unknown.length > 0) {
  throw new Error(`Unknown folders: ${unknown.join(', ')}. Choose from ${Object.keys(FOLDERS).join(', ')}.`)
}

for (const folder of given.length > 0 ? given : Object.keys(FOLDERS)) {
  const [least, ...tests] = FOLDERS[folder]
  const include = tests.map((path) => (path.endsWith('.ts') ? `test/${path}` : `test/${path}/**/*.test.ts`))
  const env = { ...process.env, MUTATION_TESTS: include.join(' ') }
  const mutated = isSample ? sampleOf(folder).join(',') : `src/${folder}/**/*.ts`
  const stryker = ['run', 'scripts/stryker.json', '--mutate', mutated]
  const { status } = spawnSync('node_modules/.bin/stryker', stryker, { cwd: root, env, stdio: 'inherit' })
  const { noticed, all } = status === 0 ? countMutants() : { noticed: 0, all: 0 }
  const score = all === 0 ? 0 : (100 * noticed) / all
  console.log(`${folder}: the tests notice ${noticed} of ${all} mistakes, ${score.toFixed(1)} % (${least} % wanted)`)
  if (score < least) process.exitCode = 1
}

/** Returns every sixth 20 lines of a folder, all its files taken as one text. */
function sampleOf(folder) {
  const files = readdirSync(join(root, 'src', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
  let chunk = 0
  return files.flatMap((name) => {
    const path = `src/${folder}/${name}`
    const { length } = readFileSync(join(root, path), 'utf8').split('\n')
    const starts = Array.from({ length: Math.ceil(length / LINES) }, (_, index) => index * LINES + 1)
    return starts.filter(() => chunk++ % EVERY === 0).map((start) => `${path}:${start}-${start + LINES - 1}`)
  })
}

function countMutants() {
  const { files } = JSON.parse(readFileSync(join(root, 'reports/mutation/mutation.json'), 'utf8'))
  const found = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const noticed = found.filter((status) => ['Killed', 'Timeout'].includes(status)).length
  return { noticed, all: noticed + found.filter((status) => ['Survived', 'NoCoverage'].includes(status)).length }
}
