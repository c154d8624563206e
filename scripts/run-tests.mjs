// Runs a test project: `node`, with the linter and the type checks alongside, `check` or `browser`. Further arguments go
// to vitest.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [project = '', ...more] = process.argv.slice(2)

// The tests spend much time waiting. The checks use that time, and print their output when the tests have finished.
const checks =
  project === 'node'
    ? [
        check('The linter', 'node_modules/.bin/biome', 'check', '--error-on-warnings', '.'),
        check('The type check', 'node', 'scripts/typecheck.mjs'),
      ]
    : []
const tests = spawn('node_modules/.bin/vitest', ['run', '--project', project, ...more], {
  cwd: root,
  stdio: 'inherit',
})
tests.on('close', async (code) => {
  const found = await Promise.all(checks)
  for (const { name, output, passed } of found)
    console.log(passed ? `${name} has passed.` : `${output}${name} has failed.`)
  process.exitCode = found.every(({ passed }) => passed) ? (code ?? 1) : 1
})

/** Runs a program and keeps its output. */
function check(name, command, ...parameters) {
  const child = spawn(command, parameters, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  return new Promise((resolve) => child.on('close', (code) => resolve({ name, output, passed: code === 0 })))
}
