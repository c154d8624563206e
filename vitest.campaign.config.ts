import { defineConfig } from 'vitest/config'
import { sources } from './vitest.config.ts'

/** The long race and fault suites: one file after the other, so that each has the machine to itself. */
export default defineConfig({
  ...sources,
  test: {
    include: ['test/campaign/**/*.campaign.ts', 'test/browser/triggers.test.ts'],
    env: { TRIGGER_VIEWS: '500' },
    testTimeout: 600_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    disableConsoleIntercept: true,
  },
})
