// Prepares recording which lines and branches the tests run. The program and the admin screen do not run inside the
// tests, so they are built again in a form that can be traced back to their sources.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Folder in which scripts/coverage.mjs finds what was recorded. */
export const FOLDER = join(root, 'coverage')

/**
 * Prepares a test project to record what it runs.
 *
 * @returns The command line arguments and the environment for vitest.
 */
export function prepareCoverage(project) {
  mkdirSync(FOLDER, { recursive: true })
  if (project === 'browser') {
    forget('pages')
    const parameters = ['--outDir', join(FOLDER, 'admin'), '--minify', 'false', '--sourcemap', 'inline']
    run(['vite', 'build', '--config', 'scripts/admin.config.ts', ...parameters])
    return { parameters: [], env: { COVERAGE_OF_PAGES: FOLDER } }
  }
  if (project === 'node') {
    forget('processes')
    run([
      'tsup',
      '--silent',
      '--config',
      'scripts/tsup.config.ts',
      '--no-dts',
      '--sourcemap',
      '--out-dir',
      join(FOLDER, 'dist'),
    ])
  }
  const env = { COVERAGE_OF_PROCESSES: FOLDER, COVERAGE_OF_TESTS: join(FOLDER, project) }
  return { parameters: ['--coverage'], env }
}

function forget(name) {
  rmSync(join(FOLDER, name), { recursive: true, force: true })
}

function run(command) {
  const { status } = spawnSync('npx', command, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
