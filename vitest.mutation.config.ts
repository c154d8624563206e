import { defineConfig } from 'vitest/config'
import { sources } from './vitest.config.ts'

/** The tests that judge mutants: quick ones, about the parts that are mutated. */
export default defineConfig({
  ...sources,
  test: {
    include: [
      'test/unit/{auth,limiter,sessions,strategies,guard}/**/*.test.ts',
      'test/behaviour/logins/{counting,hooks,limit,mode-table}.test.ts',
      'test/behaviour/endings/site-wide-logout.test.ts',
    ],
    exclude: ['test/unit/limiter/model.test.ts', 'test/unit/limiter/parallel-logins.test.ts'],
    testTimeout: 20_000,
    // Loading the modules for each file would take most of the time.
    isolate: false,
  },
})
