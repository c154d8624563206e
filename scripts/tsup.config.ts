import { defineConfig, type Options } from 'tsup'
import { esbuildAssets } from './browser-assets.mjs'
import { esbuildLate, LATE } from './late-modules.mjs'
import { esbuildLua } from './lua-text.mjs'
import { recordInputs } from './record-inputs.mjs'

const shared = (name: string): Options => ({
  target: 'node20',
  esbuildPlugins: [esbuildAssets, esbuildLate, esbuildLua, recordInputs(name)],
  esbuildOptions(options, { format }) {
    // Jest, as it comes, has no import() in CommonJS. Every Node in package.json's engines can require an ES module.
    if (format === 'cjs') options.supported = { 'dynamic-import': false }
  },
})

/** Built by `scripts/build-door.mjs`; tsup writes only its types. */
const main = { index: 'src/index.ts' }
const others = {
  redis: 'src/redis.ts',
  document: 'src/document.ts',
  sqlite: 'src/sqlite.ts',
  postgres: 'src/postgres.ts',
  audit: 'src/audit.ts',
  comments: 'src/comments.ts',
  licensing: 'src/licensing.ts',
  fastify: 'src/fastify.ts',
  koa: 'src/koa.ts',
  explicit: 'src/explicit.ts',
  fetch: 'src/fetch.ts',
  'better-auth': 'src/better-auth.ts',
  bound: 'src/bound.ts',
  jwt: 'src/jwt.ts',
  live: 'src/live.ts',
  constants: 'src/constants.ts',
  testing: 'src/testing.ts',
}

export default defineConfig([
  // The types of all doors are one graph: each type is declared once.
  { ...shared('others'), entry: others, format: ['esm', 'cjs'], dts: { entry: { ...main, ...others } } },
  { ...shared('late'), entry: LATE, format: ['cjs'] },
  { ...shared('program'), entry: { cli: 'src/cli.ts' }, format: ['esm'] },
])
