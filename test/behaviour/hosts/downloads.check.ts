import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { fastifyRoutes } from '../../../src/fastify.ts'
import type { SessmgrOptions, UserId } from '../../../src/index.ts'
import { koaRoutes } from '../../../src/koa.ts'
import { RestDownload, sendDownload } from '../../../src/routes/download.ts'
import type { Middleware } from '../../../src/service/service.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startFetchHost } from '../../support/fetch-host.ts'
import { startKoaHost } from '../../support/koa-host.ts'
import { listen } from '../../support/listen.ts'
import { basic, RestClient } from '../../support/rest-client.ts'
import { findUser, findUserById } from '../../support/users.ts'
import { startHonoHost } from './hono-host.ts'

const ALICE = 2
const users = {
  findById: (id: UserId) => findUserById(Number(id)),
  findByEmail: () => undefined,
  findByLogin: (login: string) => findUser(login),
  summary: ({ id = 0, login }: Express.User) => ({ id, login, display_name: login }),
}
const OPTIONS: SessmgrOptions = { host: { users, can: () => true }, directory: true }

const HOSTS = {
  Express: () => startExpressHost({ sessmgr: OPTIONS }),
  Fastify: () => startFastifyHost({ sessmgr: OPTIONS }),
  Koa: () => startKoaHost({ sessmgr: OPTIONS }),
  'explicit calls': () => startHonoHost(OPTIONS),
  'a Request': () => startFetchHost({ sessmgr: OPTIONS }),
}

test.each(Object.entries(HOSTS))('every export arrives whole, on %s', async (_name, start) => {
  const { origin, limiter, browser } = await start()
  await browser().post('/login', { username: 'alice', password: 'secret' })
  const { password } = await limiter.passwords.create(ALICE, 'script')
  const client = new RestClient(origin)
  const read = async (path: string) => {
    const answer = await client.send('GET', `/api/sessmgr/v1/${path}`, { headers: basic('alice', password) })
    const { 'content-disposition': name, 'content-length': length } = answer.headers
    expect([answer.status, length], path).toEqual([200, undefined])
    return [name, answer.text.trimEnd().split('\n')] as const
  }
  const [name, people] = await read('people/export')
  expect(name).toBe('attachment; filename="people.csv"')
  expect(people).toEqual([expect.stringMatching(/^id,login,/), expect.stringMatching(/^2,alice,/)])
  expect((await read('sessions/export?user=alice'))[1]).toHaveLength(2)
  const [, events] = await read('audit/export')
  expect(events.map((line) => JSON.parse(line).type)).toContain('session.started')
})

const MOUNTED: Record<string, (serve: Middleware) => Promise<string>> = {
  http: (serve) => listen((request, response) => serve(request as never, response, () => {})),
  Express: (serve) => listen(express().use(serve as never)),
  async Fastify(serve) {
    const app = fastify({ forceCloseConnections: true })
    await app.register(fastifyRoutes, { prefix: '/api', serve })
    onTestFinished(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  async Koa(serve) {
    const app = new Koa()
    app.silent = true
    app.use(koaRoutes('/api', serve) as unknown as Koa.Middleware)
    return listen(app.callback())
  },
}

const PART = 'x'.repeat(2 ** 16)
/** More than sockets buffer. */
const MOST = 2_000

/** Starts a download of at most `MOST` parts, and returns its response unread. */
async function download(mount: (serve: Middleware) => Promise<string>, failsAt = MOST, mayGoOn = async () => {}) {
  const source = { parts: 0, isOver: false }
  async function* parts() {
    try {
      while (source.parts < MOST) {
        if (source.parts === failsAt) throw new Error('gone')
        source.parts += 1
        yield PART
        await new Promise(setImmediate)
      }
    } finally {
      source.isOver = true
    }
  }
  const origin = await mount((_request, response) => {
    const file = new RestDownload('large.txt', 'text/plain', parts())
    sendDownload(response, file, false, mayGoOn).catch(() => response.destroy())
  })
  const [answer] = (await once(get(`${origin}/api`, { agent: false }), 'response')) as [IncomingMessage]
  answer.on('error', () => {})
  return { source, answer }
}

/** Waits until a download makes no progress. */
async function untilStill(source: { readonly parts: number }): Promise<void> {
  let seen = -1
  const isStill = () => {
    const before = seen
    seen = source.parts
    return before === seen
  }
  await expect.poll(isStill, { timeout: 20_000, interval: 100 }).toBe(true)
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe.each(Object.entries(MOUNTED))('on %s, a download', (name, mount) => {
  test('waits for a client that does not read, and ends when the client hangs up', async () => {
    const { source, answer } = await download(mount)
    await untilStill(source)
    expect([source.parts < MOST, source.isOver]).toEqual([true, false])
    answer.destroy()
    await expect.poll(() => source.isOver, { timeout: 20_000 }).toBe(true)
    expect(source.parts).toBeLessThan(MOST)
  })

  test('is cut off when its source fails in the middle', async () => {
    const { answer } = await download(mount, 5)
    answer.resume()
    await new Promise((resolve) => answer.once('close', resolve))
    expect(answer.complete).toBe(false)
  })

  // The clocks are the same everywhere.
  if (name !== 'http') return
  test('rule 60: is cut when the client takes nothing for a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { source, answer } = await download(mount)
    await untilStill(source)
    // Waiting has let a few seconds of the false clock pass.
    vi.advanceTimersByTime(50_000)
    await new Promise(setImmediate)
    expect([source.isOver, answer.destroyed]).toEqual([false, false])
    vi.advanceTimersByTime(10_000)
    await expect.poll(() => source.isOver, { timeout: 20_000 }).toBe(true)
    answer.resume()
    await new Promise((resolve) => answer.once('close', resolve))
    expect([answer.complete, source.parts < MOST]).toEqual([false, true])
  })

  test('rule 60: asks once a second at most whether it may go on, and not at all within the first', async () => {
    let now = 0
    let asked = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const { source, answer } = await download(mount, MOST, async () => {
      asked += 1
      if (asked === 3) throw new Error('not any more')
    })
    await untilStill(source)
    expect(asked).toBe(0)
    now = 1000
    const isAsked = async (times: number) => {
      await expect.poll(() => answer.read() && asked, { timeout: 20_000, interval: 1 }).toBe(times)
    }
    await isAsked(1)
    now = 1999
    await untilStill(source)
    expect(asked).toBe(1)
    now = 2000
    await isAsked(2)
    now = 3000
    answer.resume()
    await new Promise((resolve) => answer.once('close', resolve))
    expect([asked, answer.complete, source.parts < MOST, source.isOver]).toEqual([3, false, true, true])
  })
})
