// Measures which lines and branches of src/ the tests run: in vitest, in the processes of the command line, and in the
// pages of a real browser. Fails below the thresholds. The whole report is coverage/index.html.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CoverageReport } from 'monocart-coverage-reports'

const THRESHOLDS = { lines: 95, branches: 90 }

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'coverage')

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
// What runs elsewhere is built once more, in a form that can be traced back to its sources.
run(['tsup', '--silent', '--no-dts', '--sourcemap', '--out-dir', join(folder, 'dist')])
const admin = ['--outDir', join(folder, 'admin'), '--minify', 'false', '--sourcemap', 'inline']
run(['vite', 'build', '--config', 'vite.admin.config.ts', ...admin])
run(['vitest', 'run', '--coverage', '--project', 'node'], { COVERAGE_OF_PROCESSES: folder })
run(['vitest', 'run', '--project', 'browser'], { COVERAGE_OF_PAGES: folder })

const whole = new CoverageReport({
  outputDir: folder,
  clean: false,
  logging: 'error',
  reports: ['html', 'text-summary'],
})
await whole.add(readJson(join(folder, 'vitest', 'coverage-final.json')))
await whole.add(await tracedBack('src/cli', (report) => report.addFromDir(join(folder, 'processes'))))
await whole.add(await tracedBack('src/browser', addPages))
const results = await whole.generate()
for (const [kind, least] of Object.entries(THRESHOLDS)) {
  const { pct } = results?.summary[kind] ?? { pct: 0 }
  if (pct >= least) continue
  console.error(`The tests run ${pct} % of the ${kind} of src/; at least ${least} % are asked for.`)
  process.exitCode = 1
}

/** Traces what ran elsewhere back to the sources below a folder. */
async function tracedBack(below, add) {
  const outputDir = join(folder, below.replaceAll('/', '-'))
  const report = new CoverageReport({
    outputDir,
    baseDir: root,
    logging: 'error',
    reports: ['json'],
    entryFilter: ({ url }) => !url.includes('node_modules'),
    sourcePath: (path) => (path.includes('src/') ? join(root, path.slice(path.indexOf('src/'))) : path),
    all: { dir: [join(root, below)], filter: (path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts') },
  })
  await add(report)
  await report.generate()
  // What has no map, such as a page's own script, is in it too.
  const files = Object.entries(readJson(join(outputDir, 'coverage-final.json')))
  return Object.fromEntries(files.filter(([path]) => path.startsWith(join(root, below))))
}

async function addPages(report) {
  const pages = join(folder, 'pages')
  const all = readdirSync(pages).map((name) => readJson(join(pages, name)))
  for (const entries of all) if (entries.length > 0) await report.add(entries)
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function run(command, env = {}) {
  const { status } = spawnSync('npx', command, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) process.exit(status ?? 1)
}
