import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { viteAssets } from './scripts/browser-assets.mjs'

const src = (file: string) => fileURLToPath(new URL(`./src/${file}`, import.meta.url))

/** Gives .lua files as text, as the build does. */
const luaText = {
  name: 'lua-text',
  transform: (code: string, id: string) => (id.endsWith('.lua') ? `export default ${JSON.stringify(code)}` : undefined),
}

export default defineConfig({
  plugins: [luaText, viteAssets],
  resolve: {
    alias: [
      { find: /^sessmgr$/, replacement: src('index.ts') },
      { find: /^sessmgr\/(\w+)$/, replacement: src('$1.ts') },
    ],
  },
  test: { include: ['test/**/*.test.ts'], testTimeout: 60_000, maxWorkers: 2 },
})
