// Builds the package into dist/: the admin screen, the entry points with their types, the program, and the licenses of
// what is bundled. Writes the stamp last, so that a build that fails half way does not seem up to date.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildDoor } from './build-door.mjs'
import { BUILD_STAMP, hashOfBuildInputs } from './build-inputs.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const inputs = hashOfBuildInputs()

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
run('npx', ['vite', 'build', '--config', 'scripts/admin.config.ts'])
run('npx', ['tsup', '--silent', '--config', 'scripts/tsup.config.ts'])
await buildDoor()
run(process.execPath, ['scripts/judge-bundles.mjs'])
writeFileSync(BUILD_STAMP, inputs)

function run(command, parameters) {
  const { status } = spawnSync(command, parameters, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
