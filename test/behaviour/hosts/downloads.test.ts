import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fastifyRoutes } from '../../../src/fastify.ts'
import type { SessmgrOptions, UserId } from '../../../src/index.ts'
import { koaRoutes } from '../../../src/koa.ts'
import { RestDownload, sendDownload } from '../../../src/routes/download/rest-download.ts'
import type { Middleware } from '../../../src/service/service.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
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
}

describe.each(Object.entries(HOSTS))('on %s', (_name, start) => {
  test('every export arrives whole', async () => {
    const { origin, limiter, browser } = await start()
    await browser().post('/login', { username: 'alice', password: 'secret' })
    const { password } = await limiter.passwords.create(ALICE, 'script')
    const headers = basic('alice', password)
    const client = new RestClient(origin)
    const read = (path: string) => client.send('GET', `/api/sessmgr/v1/${path}`, { headers })

    const files = ['people/export', 'sessions/export?user=alice', 'audit/export']
    const answers = await Promise.all(files.map(read))
    expect(
      answers.map(({ status, headers: sent }) => [status, sent['content-disposition'], sent['content-length']]),
    ).toEqual(
      ['people.csv', 'sessions.csv', 'activity.jsonl'].map((file) => [
        200,
        `attachment; filename="${file}"`,
        undefined,
      ]),
    )
    const [people, sessions, events] = answers.map(({ text }) => text.trimEnd().split('\n'))
    expect(people).toEqual([expect.stringMatching(/^id,login,/), expect.stringMatching(/^2,alice,/)])
    expect(sessions).toHaveLength(2)
    expect(events?.map((line) => JSON.parse(line).type)).toContain('session.started')
  })
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
async function download(mount: (serve: Middleware) => Promise<string>, failsAt = MOST) {
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
    sendDownload(response, file, false).catch(() => response.destroy())
  })
  const [answer] = (await once(get(`${origin}/api`, { agent: false }), 'response')) as [IncomingMessage]
  answer.on('error', () => {})
  return { source, answer }
}

describe.each(Object.entries(MOUNTED))('on %s, a download', (_name, mount) => {
  test('waits for a client that does not read, and ends when the client hangs up', async () => {
    const { source, answer } = await download(mount)
    let seen = -1
    const isStill = () => {
      const before = seen
      seen = source.parts
      return before === seen
    }
    await expect.poll(isStill, { timeout: 20_000 }).toBe(true)
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
})
