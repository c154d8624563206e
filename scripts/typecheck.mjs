// Checks the types of every project. What the compiler learns is kept in node_modules/.cache, so that it looks again
// only at what has changed.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROJECTS = ['.', 'src/browser', 'src/browser/admin', 'examples/express-app', 'bench', 'scripts']

const root = fileURLToPath(new URL('..', import.meta.url))
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')

for (const project of PROJECTS) {
  const memory = join(root, 'node_modules', '.cache', 'types', `${project.replaceAll('/', '-')}.tsbuildinfo`)
  const parameters = [tsc, '-p', project, '--incremental', '--tsBuildInfoFile', memory]
  const { status } = spawnSync(process.execPath, parameters, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
