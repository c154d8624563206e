// Makes a fresh clone ready: installs the locked dependencies, and with --build also compiles the package.
// Runs before `npm start` and `npm test`; does nothing when everything is already in place.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`sessmgr needs Node 20.19 or newer; this is ${process.version}. Install a newer Node and try again.`)
}

installDependencies()
if (process.argv.includes('--build')) build()

function installDependencies() {
  const stamp = join(root, 'node_modules', '.sessmgr-lock')
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  // Not `npm ci`: it refuses a lock file that leaves out optional packages for other platforms, which some registries lack.
  run(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund'],
    'Installing the dependencies failed. Is the npm registry reachable?',
  )
  writeFileSync(stamp, lock)
}

function build() {
  const output = join(root, 'dist', 'index.js')
  const inputs = [join(root, 'package.json'), join(root, 'tsup.config.ts'), ...filesBelow(join(root, 'src'))]
  if (existsSync(output) && inputs.every((file) => statSync(file).mtimeMs <= statSync(output).mtimeMs)) return
  run('npm', ['run', '--silent', 'build'], 'Building the package failed; the messages above say where.')
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function run(command, args, message) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (result.status !== 0) fail(message)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
