import { defineConfig } from 'vitest/config'
import { sources } from './vitest.config.ts'

/** The tests that judge mutants: quick ones, about the parts that are mutated. */
export default defineConfig({
  ...sources,
  test: {
    include: ['test/{auth,limiter,rules,strategies}/**/*.test.ts'],
    exclude: ['test/limiter/model.test.ts', 'test/limiter/parallel-logins.test.ts'],
    testTimeout: 20_000,
  },
})
