// Checks the package as users get it: packs it, lets publint and attw check it, and measures the size of every entry
// point. Then installs it into an empty project and runs the program of docs/getting-started.md there: as an ES module,
// as CommonJS, and as TypeScript resolved as by Node and by bundlers.
// --quick skips the installation.
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

const { doors: LIMITS } = JSON.parse(readFileSync(join(root, 'scripts', 'budgets.json'), 'utf8'))
/** What the types of an entry point may import besides Node's: only the package that the entry point is for. */
const TYPES = { 'fastify.d': ['fastify'], 'koa.d': ['koa'], 'better-auth.d': ['better-auth'] }

try {
  run('npm', ['pack', '--silent', '--pack-destination', folder])
  const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`)
  run('npx', ['publint', '--strict', tarball])
  run('npx', ['attw', tarball, '--profile', 'node16', '--format', 'table-flipped', '--no-emoji'])
  await weighDoors()
  readTypes()
  followLinks(tarball)
  if (!process.argv.includes('--quick')) installAndRun(tarball)
  console.log('The package is OK.')
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
      external: ['vitest', 'better-auth'],
      absWorkingDir: root,
    })
    const loaded = outputFiles.filter(({ path }) => loadedAtOnce(metafile, entry.default.slice(2), basename(path)))
    const size = gzipSync(Buffer.concat(loaded.map(({ contents }) => contents)), { level: 9 }).length
    const limit = LIMITS[door] ?? fail(`${door} has no size limit. Add one to scripts/budgets.json.`)
    console.log(`${door}: ${size} bytes of gzip with its dependencies (at most ${limit})`)
    if (size > limit) fail(`${door} has become too large. If it has to be, raise its limit in scripts/budgets.json.`)
  }
}

/** Checks that no user needs the types of a package that they do not use. */
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

/** Checks that the pages in the package do not link to files that are only in the repository. */
function followLinks(tarball) {
  const paths = run('tar', ['-tzf', tarball])
    .split('\n')
    .map((path) => path.replace('package/', ''))
  for (const page of paths.filter((path) => path.endsWith('.md'))) {
    for (const [, target] of readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)) {
      const path = posix.join(posix.dirname(page), target)
      if (!/^https?:/.test(target) && !paths.includes(path))
        fail(`${page} links to ${target}, which is not in the package.`)
    }
  }
}

/** Checks whether an output is loaded together with the entry point, and not on demand later. */
function loadedAtOnce({ outputs }, door, name) {
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path].entryPoint === door))
  for (const path of found) {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(next)
  }
  return [...found].some((path) => basename(path) === name)
}

/** Follows the steps of docs/getting-started.md in an empty folder. */
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
  // A bundler treats its files as ES modules, whatever the project says.
  write(join('bundler', 'package.json'), '{"type":"module"}')
  start(join('bundler', 'app.js'))

  // The one entry point that runs code of the package that it is for.
  run('npm', [...install, 'better-auth'], project)
  openDoors(project, write)
  run('npm', [...install, '--save-dev', 'fastify', 'koa', '@types/koa'], project)
  const typesOf = (some) => {
    const imports = some.map(([door], index) => `import type * as door${index} from '${nameOf(door)}'`)
    return `${imports.join('\n')}\nexport type Doors = [${some.map((_, n) => `typeof door${n}`).join(', ')}]\n`
  }
  // better-auth's types name modules of Bun.
  const [own, others] = [doors.filter((door) => !isForBetterAuth(door)), doors.filter(isForBetterAuth)]
  write('others.mts', typesOf(others))
  compile(['--module', 'nodenext', '--skipLibCheck', 'true', '--noEmit', 'others.mts'])
  write('doors.mts', typesOf(own))
  compile(['--module', 'nodenext', '--noEmit', 'doors.mts'])
}

/**
 * Loads every entry point in both ways and runs the program. Nothing else is installed that the package should bring
 * along.
 */
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

/** @param {[string, any]} entry */
function isForBetterAuth([door]) {
  return door === './better-auth'
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
