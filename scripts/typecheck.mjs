// Checks the types of every project with TypeScript 7, in a quarter of the time. Tools that need more than
// errors from the compiler still use the version before. Results are cached in node_modules/.cache, so that only
// changed files are checked again.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const EXAMPLES = ['examples', 'examples/drivers', 'examples/express-app']
const PROJECTS = ['.', 'src/browser', 'src/browser/admin', ...EXAMPLES, 'bench', 'scripts']

const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = join(root, 'node_modules', 'typescript7', 'bin', 'tsc')

for (const project of PROJECTS) {
  const memory = join(root, 'node_modules', '.cache', 'types', `${project.replaceAll('/', '-')}.tsbuildinfo`)
  // On a single core, and with memory to spare, because the tests run at the same time.
  const parameters = [tsc, '-p', project, '--singleThreaded', '--incremental', '--tsBuildInfoFile', memory]
  const { status } = spawnSync(process.execPath, parameters, {
    cwd: root,
    env: { GOGC: '400', ...process.env },
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
