import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { sources } from '../vitest.config.ts'

/** The tests of other suites that take as many rounds as they are told, themselves or by a helper. */
function repeated(): string[] {
  const root = join(import.meta.dirname, '../test')
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return paths
    .filter((path) => /\.(test|check)\.ts$/.test(path))
    .filter((path) => /\/(rounds|page-faults)\.ts'/.test(readFileSync(join(root, path), 'utf8')))
    .map((path) => `test/${path}`)
}

/**
 * The long race and fault suites, and ten times as many rounds of the random tests in other suites, or as many times as
 * ROUNDS says. One file after the other, so that each has the machine to itself.
 */
export default defineConfig({
  ...sources,
  test: {
    include: ['test/campaign/**/*.campaign.ts', ...repeated()],
    env: { ROUNDS: process.env.ROUNDS ?? '10' },
    testTimeout: 600_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
})
