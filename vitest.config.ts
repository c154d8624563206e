import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { viteAssets } from './scripts/browser-assets.mjs'
import { viteLate } from './scripts/late-modules.mjs'
import { viteLua } from './scripts/lua-text.mjs'

const src = (file: string) => fileURLToPath(new URL(`./src/${file}`, import.meta.url))

const BROWSER = 'test/browser/**/*.test.ts'

/** One process runs many files: loading the modules for each of them would take most of the time. */
const shared = {
  isolate: false,
  // More than a small machine has cores: many tests wait for servers that have to be slow.
  maxWorkers: 3,
}

/** How sources are read, for every suite. */
export const sources = {
  plugins: [viteLua, viteAssets, viteLate],
  resolve: {
    alias: [
      { find: /^sessmgr$/, replacement: src('index.ts') },
      { find: /^sessmgr\/([\w-]+)$/, replacement: src('$1.ts') },
    ],
  },
}

export default defineConfig({
  ...sources,
  test: {
    // Enough for a slow machine that has much else to do.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    globalSetup: 'scripts/notice-old-build.mjs',
    setupFiles: 'test/support/match-strictly.ts',
    expect: { poll: { timeout: 10_000 } },
    // Only `.ci/run` tries a test again, and its output then has "retry x1": that test has a defect to mend, but the merge
    // of something else does not wait for it.
    retry: process.env.RETRY_ONCE ? 1 : 0,
    // Browsers take all the time of a machine that they can get: the tests of faults and races come before them.
    projects: [
      {
        extends: true,
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: [BROWSER],
          sequence: { groupOrder: 0 },
          ...shared,
        },
      },
      // What takes long: PostgreSQL, every kind of Redis, processes, outages, and the package as users install it.
      {
        extends: true,
        test: { name: 'check', include: ['test/**/*.check.ts'], sequence: { groupOrder: 1 }, ...shared },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: [BROWSER],
          sequence: { groupOrder: 2 },
          ...shared,
          maxWorkers: 2,
        },
      },
    ],
  },
})
