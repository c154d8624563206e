// Prepares a fresh clone: installs the locked dependencies, unless --installed says that they are there. With --build,
// also builds the package. With --servers and
// --chromium, makes sure that Redis, PostgreSQL and a browser are installed, of which the tests start private copies.
// Runs before `npm start` and `npm test`, and does nothing if everything is already in place.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILD_STAMP, hashOfBuildInputs } from './build-inputs.mjs'
import { postgresFolders } from './postgres-folders.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 20 || major === 21 || (major === 20 && minor < 19) || (major === 22 && minor < 12)) {
  fail(
    `sessmgr needs Node 20.19, or 22.12 or newer; this is ${process.version}. Install one of these versions and try again.`,
  )
}

installDependencies()
if (process.argv.includes('--build')) build()
if (process.argv.includes('--servers')) {
  provide('redis-server', 'redis-server')
  provide('initdb', 'postgresql', postgresFolders)
}
if (process.argv.includes('--chromium')) provideBrowser()

function installDependencies() {
  const stamp = join(root, 'node_modules', '.sessmgr-lock')
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  if (process.argv.includes('--installed')) return writeFileSync(stamp, lock)
  // Not `npm ci`: it refuses a lock file that lacks optional packages for other platforms, which some registries do not
  // have.
  say('Installing the dependencies: about a minute.')
  run(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund'],
    'Installing the dependencies failed. Is the npm registry reachable?',
  )
  writeFileSync(stamp, lock)
}

function build() {
  if (existsSync(BUILD_STAMP) && readFileSync(BUILD_STAMP, 'utf8') === hashOfBuildInputs()) return
  say('Building the package: about ten seconds.')
  run(process.execPath, ['scripts/build.mjs'], 'Building the package failed. See the messages above.')
}

/**
 * Finds a program on the PATH, or installs it with Debian's package manager.
 *
 * @param {string} program
 * @param {string} debianPackage
 * @param {() => string[]} folders
 */
function provide(program, debianPackage, folders = () => []) {
  if (isThere(program, folders)) return
  const advice = `The tests need ${program}. Install the package ${debianPackage} with your system's package manager.`
  if (!isThere('apt-get') || process.getuid?.() !== 0) fail(advice)
  if (!install(debianPackage) || !isThere(program, folders)) fail(advice)
}

/** Without recommended packages, and without starting a service, because the tests start what they need. */
function install(debianPackage) {
  say(`Installing ${debianPackage}, which the tests need: up to two minutes.`)
  return (
    succeeds('apt-get', ['update', '-qq']) &&
    succeeds('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage])
  )
}

/** Without its part that draws pages without windows, which only Debian has as a package, the tests take twice as long. */
function provideBrowser() {
  provide('chromium', 'chromium')
  if (isThere('chromium-headless-shell') || !isThere('apt-get') || process.getuid?.() !== 0) return
  install('chromium-headless-shell')
}

/** @param {string} program
 * @param {() => string[]} folders */
function isThere(program, folders = () => []) {
  return [...(process.env.PATH ?? '').split(delimiter), ...folders()].some((folder) =>
    existsSync(join(folder, program)),
  )
}

function run(command, args, message) {
  if (!succeeds(command, args)) fail(message)
}

function succeeds(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', env }).status === 0
}

function say(message) {
  console.log(message)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
