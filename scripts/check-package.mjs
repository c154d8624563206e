// Checks the package as its users get it: packs it, lets publint and attw judge it, weighs every door, and installs it
// into an empty project, where it has to run as an ES module, as CommonJS, and as TypeScript resolved in both ways.
// --quick leaves the installation out.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const consumers = fileURLToPath(new URL('./package-check/consumers', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'sessmgr-package-'))

/** Most that a door may weigh when it is bundled with what it needs, in bytes of gzip. */
const LIMITS = { '.': 60_000, './redis': 12_000, './comments': 30_000, './testing': 10_000 }
const OTHER_DOOR = 55_000
/** What no door may carry along: the application has it, or does not need it. */
const FOREIGN = /node_modules\/(express|express-session|passport|redis|@redis|ioredis|connect-redis|react|react-dom)\//

try {
  run('npm', ['run', '--silent', 'build'])
  run('npm', ['pack', '--silent', '--pack-destination', folder])
  const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`)
  run('npx', ['publint', '--strict', tarball])
  run('npx', ['attw', tarball, '--profile', 'node16', '--format', 'table-flipped', '--no-emoji'])
  await weighDoors()
  if (!process.argv.includes('--quick')) installAndRun(tarball)
  console.log('The package is good.')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function weighDoors() {
  const doors = Object.entries(manifest.exports).filter(([, entry]) => typeof entry !== 'string')
  for (const [door, { import: entry }] of doors) {
    const { outputFiles, metafile } = await build({
      entryPoints: [join(root, entry.default)],
      bundle: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      splitting: true,
      outdir: folder,
      write: false,
      metafile: true,
      logLevel: 'error',
      external: ['vitest'],
      absWorkingDir: root,
    })
    const foreign = Object.keys(metafile.inputs).find((file) => FOREIGN.test(file))
    if (foreign) fail(`${door} carries ${foreign} along.`)
    const loaded = outputFiles.filter(({ path }) => loadedAtOnce(metafile, entry.default.slice(2), basename(path)))
    const size = gzipSync(Buffer.concat(loaded.map(({ contents }) => contents)), { level: 9 }).length
    const limit = LIMITS[door] ?? OTHER_DOOR
    console.log(`${door}: ${size} bytes of gzip with its dependencies (at most ${limit})`)
    if (size > limit) fail(`${door} has become too heavy.`)
  }
}

/** Tells whether an output is loaded with the door, and not only by what asks for it later. */
function loadedAtOnce({ outputs }, door, name) {
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path].entryPoint === door))
  for (const path of found) {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(next)
  }
  return [...found].some((path) => basename(path) === name)
}

/** Does what the README tells a newcomer to do, in an empty folder. */
function installAndRun(tarball) {
  const project = join(folder, 'project')
  mkdirSync(project)
  run('npm', ['init', '-y', '--silent'], project)
  const packages = ['express', 'express-session', 'passport', 'passport-local', tarball]
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packages], project)
  const types = [
    '@types/node@20',
    '@types/express',
    '@types/express-session',
    '@types/passport',
    '@types/passport-local',
  ]
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--save-dev', ...types], project)
  cpSync(consumers, project, { recursive: true })
  const snippet = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))[1]
  const lines = snippet.split('\n').filter((line) => !line.startsWith('import '))
  for (const name of ['limit.mjs', 'limit.cjs', 'limit.ts']) {
    const file = join(project, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace('// the snippet\n', lines.join('\n')))
  }
  for (const name of ['limit.mjs', 'limit.cjs']) run(process.execPath, [name], project)

  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const shared = ['--strict', '--target', 'es2022', '--skipLibCheck', 'false', '--noEmitOnError', '--outDir']
  run(process.execPath, [tsc, ...shared, 'nodenext', '--module', 'nodenext', 'limit.ts'], project)
  run(process.execPath, [join('nodenext', 'limit.js')], project)
  // A bundler's modules are ES modules, whatever the project says.
  const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler', '--esModuleInterop']
  run(process.execPath, [tsc, ...shared, 'bundler', ...bundler, 'limit.ts'], project)
  writeFileSync(join(project, 'bundler', 'package.json'), '{"type":"module"}')
  run(process.execPath, [join('bundler', 'limit.js')], project)
}

function run(command, parameters, cwd = root) {
  const { status, stdout, stderr } = spawnSync(command, parameters, { cwd, encoding: 'utf8' })
  if (status !== 0) fail(`${[command, ...parameters].join(' ')} failed:\n${stdout}${stderr}`)
}

function fail(message) {
  rmSync(folder, { recursive: true, force: true })
  console.error(message)
  process.exit(1)
}
