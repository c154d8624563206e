import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const src = (file: string) => fileURLToPath(new URL(`./src/${file}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^sessmgr$/, replacement: src('index.ts') },
      { find: /^sessmgr\/testing$/, replacement: src('testing.ts') },
    ],
  },
  test: { include: ['test/**/*.test.ts'], testTimeout: 20_000, maxWorkers: 2 },
})
