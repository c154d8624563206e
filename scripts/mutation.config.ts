import { defineConfig } from 'vitest/config'
import { sources } from '../vitest.config.ts'

/** The tests that judge the mistakes of a folder; see `mutation.mjs`. */
export default defineConfig({
  ...sources,
  test: {
    include: process.env.MUTATION_TESTS?.split(' ') ?? [],
    testTimeout: 20_000,
    // Loading the modules for each file would take most of the time.
    isolate: false,
  },
})
