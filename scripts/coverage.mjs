// Judges which lines and branches of src/ the tests have run: in vitest, in the processes of the command line, and in the
// pages of a real browser. `COVERAGE=1 npm test` and `COVERAGE=1 npm run test:browser` note it. Fails below the
// thresholds. The whole report is coverage/index.html.
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
