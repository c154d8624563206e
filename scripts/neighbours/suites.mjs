// The suites of other projects that `scripts/neighbours.mjs` runs, and how sessmgr is put between.
import { fileURLToPath } from 'node:url'

const BETWEEN = JSON.stringify(fileURLToPath(new URL('between.cjs', import.meta.url)))
const PLAIN = { plain: {}, users: { users: true } }

/**
 * For each suite: its repository, the command that runs it, the ways in which sessmgr is put between, how many tests have
 * to pass in each way, and the edits of its tests. An edit has the files, the text in them, and the text in its place.
 * `added` are more files of the copy with sessmgr.
 */
export const SUITES = {
  'express-session': {
    repository: 'expressjs/session',
    prepare: './test/support/gencert.sh',
    run: 'mocha --require test/support/env --check-leaks --no-exit --reporter dot test/',
    ways: { plain: {}, named: { named: true }, users: { users: true } },
    wanted: { plain: 158, named: 159, users: 156 },
    edits: [[/^test\/session\.js$/, "require('../')", `require(${BETWEEN}).express(require('../'))`]],
  },
  'node-connect-pg-simple': {
    repository: 'voxpelli/node-connect-pg-simple',
    run: 'mocha "test/**/*.spec.js" --exit --reporter dot',
    ways: PLAIN,
    wanted: { plain: 41, users: 41 },
    postgres: true,
    edits: [
      [/\.spec\.js$/, "= require('..');", `= require(${BETWEEN}).storeMaker(require('..'));`],
      [/\.spec\.js$/, "= require('../..');", `= require(${BETWEEN}).storeMaker(require('../..'));`],
      [/integration/, "= require('express-session')", `= require(${BETWEEN}).express(require('express-session'))`],
    ],
  },
  'connect-redis': {
    repository: 'tj/connect-redis',
    run: 'vitest run',
    ways: PLAIN,
    wanted: { plain: 4, users: 3 },
    edits: [
      [
        /^index_test\.ts$/,
        'import {RedisStore} from "./"',
        `import {createRequire} from "node:module"
import {RedisStore as Own} from "./"
const RedisStore = createRequire(import.meta.url)(${BETWEEN}).store(Own)`,
      ],
    ],
  },
  passport: {
    repository: 'jaredhanson/passport',
    run: 'mocha --reporter dot --require test/bootstrap/node test/*.test.js test/*/*.test.js',
    ways: { plain: {} },
    wanted: { plain: 545 },
    edits: [],
    added: {
      'test/0.test.js': `before(function (done) {
  require(${BETWEEN}).passport(require('..').Passport).then(() => done(), done)
})`,
    },
  },
  'fastify-passport': {
    repository: 'fastify/fastify-passport',
    // Newer types of its dependencies may disagree with it, which does not matter here.
    prepare: '(tsc -p tsconfig.test.json --noEmitOnError false || true)',
    run: 'borp --no-typescript --reporter tap -p "dist/test/**/*.test.js"',
    ways: { many: {}, allow: { settings: {} }, block: { settings: { logic: 'block' } } },
    wanted: { many: 196, allow: 196, block: 196 },
    edits: [
      [
        /^test\/helpers\.ts$/,
        "import { fastifySession, FastifySessionOptions } from '@fastify/session'",
        `import { fastifySession as own, FastifySessionOptions } from '@fastify/session'
const { fastifySession } = require(${BETWEEN}).fastify(own)`,
      ],
    ],
  },
  'fastify-session': {
    repository: 'fastify/session',
    run: 'node --test --test-reporter tap',
    ways: PLAIN,
    wanted: { plain: 126, users: 124 },
    edits: [[/^test\//, "require('..')", `require(${BETWEEN}).fastify(require('..'))`]],
  },
  'koa-session': {
    repository: 'koajs/session',
    run: 'egg-bin test',
    ways: PLAIN,
    wanted: { plain: 120, users: 120 },
    edits: [
      [
        /^test\/\w+\.test\.ts$/,
        "CreateSessionOptions } from '../src/index.js'",
        "CreateSessionOptions } from '../src/between.js'",
      ],
    ],
    added: {
      'src/between.ts': `import { createRequire } from 'node:module'
import session from './index.js'
export * from './index.js'
const wrapped: typeof session = createRequire(import.meta.url)(${BETWEEN}).koa(session)
export default wrapped`,
    },
  },
}
