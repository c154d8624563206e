import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', redis: 'src/redis.ts', testing: 'src/testing.ts' },
  format: ['esm', 'cjs'],
  target: 'node20',
  dts: true,
  sourcemap: true,
  clean: true,
  loader: { '.lua': 'text' },
})
