import { defineConfig, type Options } from 'tsup'
import { esbuildAssets } from './scripts/browser-assets.mjs'
import { esbuildLua } from './scripts/lua-text.mjs'

const shared: Options = {
  target: 'node20',
  metafile: true,
  esbuildPlugins: [esbuildAssets, esbuildLua],
}

export default defineConfig([
  {
    ...shared,
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
  { ...shared, entry: { cli: 'src/cli.ts' }, format: ['esm'] },
])
