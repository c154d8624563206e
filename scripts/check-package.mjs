// Checks the package as its users get it: packs it, lets publint and attw judge it, weighs every door, and installs it
// into an empty project, where the README's program has to run as an ES module, as CommonJS, and as TypeScript resolved in
// both ways.
// --quick leaves the installation out.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { readmeProgram } from './readme-program.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const tryReadme = new URL('./try-readme.mjs', import.meta.url).href
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
  const { esm, commonjs, typescript, packages, types } = readmeProgram()
  const project = join(folder, 'project')
  mkdirSync(project)
  run('npm', ['init', '-y', '--silent'], project)
  const install = ['install', '--silent', '--no-audit', '--no-fund']
  run('npm', [...install, ...packages.map((name) => (name === manifest.name ? tarball : name))], project)
  run('npm', [...install, '--save-dev', ...types], project)

  const write = (name, text) => writeFileSync(join(project, name), text)
  const start = (name) => run(process.execPath, ['--import', tryReadme, name], project)
  write('app.mjs', esm)
  start('app.mjs')
  write('app.cjs', commonjs)
  start('app.cjs')

  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const compile = (options) => {
    const shared = ['--strict', '--target', 'es2022', '--types', 'node', '--skipLibCheck', 'false', '--noEmitOnError']
    run(process.execPath, [tsc, ...shared, ...options], project)
  }
  write('app.cts', typescript)
  write('app.mts', typescript)
  compile(['--module', 'nodenext', '--outDir', 'nodenext', 'app.cts', 'app.mts'])
  start(join('nodenext', 'app.cjs'))
  start(join('nodenext', 'app.mjs'))

  write('app.ts', typescript)
  compile(['--module', 'esnext', '--moduleResolution', 'bundler', '--outDir', 'bundler', 'app.ts'])
  // A bundler's modules are ES modules, whatever the project says.
  write(join('bundler', 'package.json'), '{"type":"module"}')
  start(join('bundler', 'app.js'))
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
