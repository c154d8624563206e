import { defineConfig, type Options } from 'tsup'
import { esbuildAssets } from './scripts/browser-assets.mjs'
import { esbuildLua } from './scripts/lua-text.mjs'
import { recordInputs } from './scripts/record-inputs.mjs'

const shared = (name: string): Options => ({
  target: 'node20',
  esbuildPlugins: [esbuildAssets, esbuildLua, recordInputs(name)],
})

export default defineConfig([
  {
    ...shared('doors'),
    entry: {
      index: 'src/index.ts',
      redis: 'src/redis.ts',
      comments: 'src/comments.ts',
      licensing: 'src/licensing.ts',
      fastify: 'src/fastify.ts',
      koa: 'src/koa.ts',
      explicit: 'src/explicit.ts',
      testing: 'src/testing.ts',
    },
    format: ['esm', 'cjs'],
    dts: true,
    esbuildOptions(options, { format }) {
      // Jest, as it comes, has no import() in CommonJS. Every Node in package.json's engines can require an ES module.
      if (format === 'cjs') options.supported = { 'dynamic-import': false }
    },
  },
  { ...shared('program'), entry: { cli: 'src/cli.ts' }, format: ['esm'] },
])
