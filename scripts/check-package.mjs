// Checks the package as its users get it: packs it, lets publint and attw judge it, weighs every door, and installs it
// into an empty project, where the program of docs/getting-started.md has to run as an ES module, as CommonJS, and as TypeScript resolved in
// three ways.
// --quick leaves the installation out.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { gettingStarted } from './getting-started.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const tryProgram = new URL('./try-program.mjs', import.meta.url).href
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const doors = Object.entries(manifest.exports).filter(([, entry]) => typeof entry !== 'string')
const folder = mkdtempSync(join(tmpdir(), 'sessmgr-package-'))

/** Most that a door may weigh when it is bundled with what it needs, in bytes of gzip. */
const LIMITS = {
  '.': 42_000,
  './redis': 11_500,
  './document': 6_500,
  './sqlite': 8_500,
  './postgres': 8_500,
  './comments': 26_000,
  './licensing': 17_000,
  './fastify': 8_000,
  './koa': 7_000,
  './explicit': 4_000,
  './testing': 12_000,
}
/** What the types of a door may name beside Node's own: the package that the door is for. */
const TYPES = { 'fastify.d': ['fastify'], 'koa.d': ['koa'] }

/** What docs/README.md says only the repository has. */
const IN_THE_REPOSITORY = /^(test|docs\/decisions|examples\/(express-app|addon-role-limits))(\/|$)/

try {
  run('npm', ['pack', '--silent', '--pack-destination', folder])
  const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`)
  run('npx', ['publint', '--strict', tarball])
  run('npx', ['attw', tarball, '--format', 'table-flipped', '--no-emoji'])
  await weighDoors()
  readTypes()
  followLinks(tarball)
  if (!process.argv.includes('--quick')) installAndRun(tarball)
  console.log('The package is good.')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function weighDoors() {
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
    const loaded = outputFiles.filter(({ path }) => loadedAtOnce(metafile, entry.default.slice(2), basename(path)))
    const size = gzipSync(Buffer.concat(loaded.map(({ contents }) => contents)), { level: 9 }).length
    const limit = LIMITS[door] ?? fail(`How much may ${door} weigh? Say it in LIMITS.`)
    console.log(`${door}: ${size} bytes of gzip with its dependencies (at most ${limit})`)
    if (size > limit) fail(`${door} has become too heavy: it loads ${Object.keys(metafile.inputs).join(', ')}.`)
  }
}

/** Sees to it that nobody needs the types of a package that they do not use. */
function readTypes() {
  for (const file of readdirSync(join(root, 'dist')).filter((name) => /\.d\.c?ts$/.test(name))) {
    const text = readFileSync(join(root, 'dist', file), 'utf8')
    const allowed = TYPES[file.replace(/\.c?ts$/, '')] ?? []
    for (const [, name] of text.matchAll(
      /(?:from|import\(|declare module|reference types=)\s*['"]([^.'"][^'"]*)['"]/g,
    )) {
      if (!name.startsWith('node:') && !allowed.includes(name)) fail(`dist/${file} needs the types of ${name}.`)
    }
  }
}

/** Makes sure that the pages of the package link to nothing that only a clone of the repository has. */
function followLinks(tarball) {
  const paths = run('tar', ['-tzf', tarball])
    .split('\n')
    .map((path) => path.replace('package/', ''))
  for (const page of paths.filter((path) => path.endsWith('.md'))) {
    for (const [, target] of readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)) {
      const path = posix.join(posix.dirname(page), target)
      const isElsewhere = /^https?:/.test(target) || IN_THE_REPOSITORY.test(path)
      if (!isElsewhere && !paths.includes(path)) fail(`${page} links to ${target}, which is not in the package.`)
    }
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

/** Does what docs/getting-started.md tells a newcomer to do, in an empty folder. */
function installAndRun(tarball) {
  const { esm, commonjs, typescript, packages, types: typings } = gettingStarted()
  const project = join(folder, 'project')
  mkdirSync(project)
  run('npm', ['init', '-y', '--silent'], project)
  const install = ['install', '--silent', '--no-audit', '--no-fund']
  run('npm', [...install, ...packages.map((name) => (name === manifest.name ? tarball : name))], project)
  run('npm', [...install, '--save-dev', ...typings], project)

  const write = (name, text) => writeFileSync(join(project, name), text)
  const start = (name) => run(process.execPath, ['--import', tryProgram, name], project)
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

  // How TypeScript 5 resolves modules by itself where it compiles to CommonJS.
  const old = [
    '--module',
    'commonjs',
    '--moduleResolution',
    'node10',
    '--ignoreDeprecations',
    '6.0',
    '--esModuleInterop',
  ]
  compile([...old, '--outDir', 'node10', 'app.ts'])
  start(join('node10', 'app.js'))

  openDoors(project, write)
  run('npm', [...install, '--save-dev', 'fastify', 'koa', '@types/koa'], project)
  const imports = doors.map(([door], index) => `import type * as door${index} from '${nameOf(door)}'`)
  const types = `${imports.join('\n')}\nexport type Doors = [${doors.map((_, n) => `typeof door${n}`).join(', ')}]\n`
  write('doors.mts', types)
  compile(['--module', 'nodenext', '--noEmit', 'doors.mts'])
  write('doors.ts', types)
  // The types of Koa name some of another package that they do not find in this way.
  compile([...old, '--skipLibCheck', 'true', '--noEmit', 'doors.ts'])
}

/** Loads every door in both ways and runs the program, with nothing beside the package that it would have to bring. */
function openDoors(project, write) {
  const names = JSON.stringify(doors.map(([door]) => nameOf(door)))
  write('doors.mjs', `for (const name of ${names}) await import(name)`)
  write('doors.cjs', `for (const name of ${names}) require(name)`)
  for (const name of ['doors.mjs', 'doors.cjs']) run(process.execPath, [name], project)
  run('npx', ['--no-install', manifest.name, '--version'], project)
  const installed = join(project, 'node_modules', manifest.name)
  const admin = JSON.parse(readFileSync(join(installed, 'dist', 'admin', 'manifest.json'), 'utf8'))
  const screen = Object.values(admin).flatMap(({ file, css = [] }) =>
    [file, ...css].map((name) => `dist/admin/${name}`),
  )
  for (const file of [...screen, 'dist/THIRD-PARTY-LICENSES.txt', 'LICENSE', 'README.md', 'docs/README.md']) {
    if (!existsSync(join(installed, file))) fail(`${file} is not in the package.`)
  }
}

function nameOf(door) {
  return manifest.name + door.slice(1)
}

function run(command, parameters, cwd = root) {
  const { status, stdout, stderr } = spawnSync(command, parameters, { cwd, encoding: 'utf8' })
  if (status !== 0) fail(`${[command, ...parameters].join(' ')} failed:\n${stdout}${stderr}`)
  return stdout
}

function fail(message) {
  rmSync(folder, { recursive: true, force: true })
  console.error(message)
  process.exit(1)
}
