// Checks which lines and branches of src/ the tests have run: in vitest, in the processes of the command line, and in
// the pages of a real browser. `npm test`, `npm run test:check` and `npm run test:browser` record this with COVERAGE=1.
// Fails below the thresholds. The full report is coverage/index.html.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CoverageReport } from 'monocart-coverage-reports'
import { FOLDER as folder } from './prepare-coverage.mjs'

const THRESHOLDS = { lines: 95, branches: 90 }

const root = fileURLToPath(new URL('..', import.meta.url))

const whole = new CoverageReport({
  outputDir: folder,
  clean: false,
  logging: 'error',
  reports: ['html', 'text-summary'],
})
const processes = await tracedBack('src/cli', (report) => report.addFromDir(join(folder, 'processes')))
for (const project of ['node', 'check']) {
  await whole.add(together(readJson(join(folder, project, 'coverage-final.json')), processes))
}
await whole.add(await tracedBack('src/browser', addPages))
const results = await whole.generate()
for (const [kind, least] of Object.entries(THRESHOLDS)) {
  const { pct } = results?.summary[kind] ?? { pct: 0 }
  if (pct >= least) continue
  console.error(`The tests run ${pct} % of the ${kind} of src/; at least ${least} % are asked for.`)
  process.exitCode = 1
}

/**
 * Adds what other processes ran to what vitest saw. The two place statements differently, so they are compared by line:
 * whatever starts on a line that ran completely counts as run.
 */
function together(seen, elsewhere) {
  for (const [path, file] of Object.entries(seen)) {
    const [own, others] = [file, elsewhere[path]].map((it) => it && partsOf(it))
    if (!others) continue
    const lines = new Set(others.map(({ line }) => line))
    for (const { line, count } of others) if (count() === 0) lines.delete(line)
    for (const { line, run } of own) if (lines.has(line)) run()
  }
  return { ...elsewhere, ...seen }
}

/** Returns the statements, functions and branches of a file. */
function partsOf({ statementMap, s, fnMap, f, branchMap, b }) {
  const part = (line, counts, key) => ({
    line,
    count: () => counts[key],
    run: () => Object.assign(counts, { [key]: counts[key] || 1 }),
  })
  return [
    ...Object.entries(statementMap).map(([id, { start }]) => part(start.line, s, id)),
    ...Object.entries(fnMap).map(([id, { loc }]) => part(loc.start.line, f, id)),
    ...Object.entries(branchMap).flatMap(([id, { locations }]) =>
      locations.map(({ start }, way) => part(start?.line, b[id], way)),
    ),
  ]
}

/** Maps what ran elsewhere back to the sources below a folder. */
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
  // Anything without a source map, such as a page's own script, is also included.
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
