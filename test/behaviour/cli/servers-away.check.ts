import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { runProgram } from '../../support/cli.ts'
import { ESM, projectWith } from './config-folder.ts'

/** A port on which nobody listens, and nobody has. */
async function deadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

async function runWith(config: string, args = ['settings', 'get', 'maximum']) {
  const folder = projectWith({ 'sessmgr.config.mjs': config }, ['redis', 'connect-redis'])
  const { code, out, err } = await runProgram(args, { cwd: folder })
  return { code, out, err: err.replaceAll(`file://${folder}/node_modules`, 'node_modules').replaceAll(folder, '.') }
}

const redisConfig = (port: number, listener: string, socket: string) => `
import { RedisStore } from 'connect-redis'
import { createClient } from 'redis'
import { sessmgr } from 'sessmgr'
import { redisStore } from 'sessmgr/redis'

export default async function makeLimiter() {
  const client = createClient({ url: 'redis://127.0.0.1:${port}', socket: ${socket} })
  ${listener}
  await client.connect()
  return sessmgr({ store: redisStore({ client }), sessionStore: new RedisStore({ client }) })
}`

const hostWith = (findByLogin: string) => `${ESM}
const users = { findById() {}, findByEmail() {}, findByLogin: ${findByLogin}, summary: (user) => user }
export default sessmgr({ host: { users, can: () => true } })`

const SLOW = '10 seconds: the function that it exports is still waiting, perhaps for a server that is down.\n'
const TOP =
  '10 seconds: a top-level await in it, or in a file that it imports, is still waiting, perhaps for a server that is down.\n'

// Nearly all of their time is waiting.
describe.concurrent('a Redis that is away, for a configuration that waits for it', () => {
  it('ends the command at once, with the address and no stack: 1', async () => {
    const port = await deadPort()
    for (const [listener, socket] of [
      ['', '{}'],
      ["client.on('error', () => {})", '{ reconnectStrategy: false }'],
    ] as const) {
      const { code, out, err } = await runWith(redisConfig(port, listener, socket))
      const sentence = `./sessmgr.config.mjs could not be loaded: connect ECONNREFUSED 127.0.0.1:${port}\n`
      expect([code, out, err]).toEqual([1, '', sentence])
    }
  })

  it('ends the command in ten seconds where its client tries again for ever: 1', async () => {
    const { code, out, err } = await runWith(redisConfig(await deadPort(), "client.on('error', () => {})", '{}'))
    expect([code, out, err]).toEqual([1, '', `./sessmgr.config.mjs was not loaded within ${SLOW}`])
  })

  it('advises a listener where nothing handles the error of a client: 1', async () => {
    const port = await deadPort()
    const config = `import { connect } from 'node:net'\nconnect(${port}, '127.0.0.1')\nawait new Promise(() => {})`
    const { code, err } = await runWith(config)
    expect([code, err]).toEqual([
      1,
      `./sessmgr.config.mjs caused an uncaught error: connect ECONNREFUSED 127.0.0.1:${port}\n` +
        `A client needs an error listener: client.on('error', (error) => …).\n`,
    ])
  })
})

describe.concurrent('what never comes', () => {
  it.each([
    ['an await', 'await new Promise(() => {})\nexport default 5', `./sessmgr.config.mjs was not loaded within ${TOP}`],
    [
      'a user of the host',
      hostWith('() => new Promise(() => {})'),
      'Finding "alice" in host.users failed: it did not respond within 10 seconds.\n',
    ],
  ])('ends the command in ten seconds: %s: 1', async (_what, config, sentence) => {
    const { code, out, err } = await runWith(config, ['sessions', 'list', 'alice'])
    expect([code, out, err]).toEqual([1, '', sentence])
  })

  it('says so of a limiter that does not close, after a command that is done: 0', async () => {
    const config = `import { memoryStore, sessmgr } from 'sessmgr'
export default sessmgr({ store: { ...memoryStore(), local: false, close: CLOSE } })`
    const [late, bad] = await Promise.all([
      runWith(config.replace('CLOSE', '() => new Promise(() => {})')),
      runWith(config.replace('CLOSE', "async () => Promise.reject(new Error('broken'))")),
    ])
    const warning = 'Warning: the limiter could not be closed: '
    expect(late).toEqual({ code: 0, out: '1\n', err: `${warning}it took longer than 5 seconds.\n` })
    expect(bad).toEqual({ code: 0, out: '1\n', err: expect.stringContaining(`${warning}broken\n`) })
  })
})

it('a look-up of the host that fails says what failed, and where; a store that is away is one sentence: 1', async () => {
  const failing = "async () => { throw new TypeError('no table') }"
  const { code, out, err } = await runWith(hostWith(failing), ['sessions', 'list', 'alice'])
  expect([code, out]).toEqual([1, ''])
  const [said, place, ...rest] = err.trimEnd().split('\n')
  expect([said, rest]).toEqual(['Finding "alice" in host.users failed: TypeError: no table', []])
  expect(place).toMatch(/^ {4}at .*\/sessmgr\.config\.mjs:3:/)
  const away = await runProgram(['settings', 'list'], { env: { REDIS_URL: 'redis://127.0.0.1:1' } })
  expect([away.code, away.out, away.err]).toEqual([1, '', expect.stringMatching(/Redis/)])
  expect(away.err).not.toMatch(/^\s+at /m)
})
