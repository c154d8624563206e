import type { Context } from 'koa'
import { describe, expect, test } from 'vitest'
import { startFastifyHost } from '../../support/fastify-host.ts'
import { startKoaHost } from '../../support/koa-host.ts'

const MODES = ['allow', 'logout_oldest', 'block']

type Data = Record<string, unknown>

/** Applications with `/empty`, which replaces what is in the session but for its user, and `/empty-later`, which waits first. */
const hosts = {
  Fastify: (logic: string) =>
    startFastifyHost({
      sessmgr: { settings: { maximum: 1, logic } },
      further({ app, gates }) {
        const empty = (data: Data) => {
          for (const key of Object.keys(data)) if (!['cookie', 'passport'].includes(key)) delete data[key]
          data.emptied = true
        }
        app.post('/leave', async (request) => {
          const data = request.session as unknown as Data
          for (const key of Object.keys(data)) if (key !== 'cookie') delete data[key]
          data.notice = 'Signed out.'
        })
        app.post('/empty', async (request) => empty(request.session as unknown as Data))
        app.post('/empty-later', async (request) => {
          await gates.at('gate').pass()
          empty(request.session as unknown as Data)
        })
      },
    }),
  Koa: (logic: string) =>
    startKoaHost({
      sessmgr: { settings: { maximum: 1, logic } },
      further: ({ gates }) => {
        const empty = (ctx: Context) => {
          const { passport } = ctx.session as unknown as Data
          ctx.session = { passport, emptied: true }
          ctx.body = 'emptied'
        }
        return {
          'POST /leave': (ctx) => {
            Object.assign(ctx, { session: { notice: 'Signed out.' }, body: 'left' })
          },
          'POST /empty': empty,
          'POST /empty-later': async (ctx) => {
            await gates.at('gate').pass()
            empty(ctx)
          },
        }
      },
    }),
}

describe.each(Object.entries(hosts))('a session that the application empties, on %s', (_, start) => {
  test.each(MODES)('keeps its slot, in mode %s', async (logic) => {
    const host = await start(logic)
    const browser = host.browser()
    expect((await browser.login('alice')).status).toBe(200)
    for (let turn = 0; turn < 2; turn++) expect((await browser.post('/empty')).status).toBe(200)
    expect([await browser.me(), await host.limiter.sessions.count(2)]).toEqual([200, 1])
    expect((await host.browser().login('alice')).status).toBe(logic === 'block' ? 403 : 200)
    expect(await browser.me()).toBe(logic === 'block' ? 200 : 401)
  })

  test('is over as a login when its user is gone from it too', async () => {
    const host = await start('block')
    const browser = host.browser()
    await browser.login('alice')
    expect((await browser.post('/leave')).status).toBe(200)
    expect((await browser.get('/state')).json()).toEqual({})
    expect((await browser.get('/nonce')).text).toBe('')
    expect([await browser.me(), await host.limiter.sessions.count(2)]).toEqual([401, 0])
    expect((await host.browser().login('alice')).status).toBe(200)
  })

  test.each(MODES)('does not come back when it has ended meanwhile, in mode %s', async (logic) => {
    const host = await start(logic)
    const browser = host.browser()
    await browser.login('alice')
    const id = host.sessionIdOf(browser)
    const held = browser.copy().post('/empty-later')
    await host.gates.at('gate').arrived
    await host.limiter.sessions.endAll(2)
    host.gates.at('gate').open()
    expect((await held).status).toBe(200)
    expect(host.sessions.read(id)).toBeUndefined()
    expect([await browser.me(), await host.limiter.sessions.count(2)]).toEqual([401, 0])
  })
})
