import { expect, test } from 'vitest'
import { memoryStore, sessmgr } from '../../../src/index.ts'
import { startExpressHost } from '../../support/express-host.ts'
import { startFastifyHost } from '../../support/fastify-host.ts'
import type { StartHost } from '../../support/host-under-test.ts'
import { JsonSessions } from '../../support/json-sessions.ts'
import { startKoaHost } from '../../support/koa-host.ts'

const OLDER = 'the older secret of an application'
const NEWER = 'the newer secret of an application'

const HOSTS: [string, StartHost][] = [
  ['Express', (setup) => startExpressHost(setup)],
  ['Fastify', (setup) => startFastifyHost(setup)],
  ['Koa', (setup) => startKoaHost(setup)],
]

test.each(HOSTS)(
  'rule 48: under %s a session that comes back in time is signed with the newer secret, and can still be ended',
  async (_host, start) => {
    const [sessions, store] = [new JsonSessions(), memoryStore()]
    // Nobody but the marker tells whose a session is.
    const process = (secret: string[]) => start({ sessions, sessmgr: { store, secret, sessionUser: () => undefined } })
    const [before, between, after] = [await process([OLDER]), await process([NEWER, OLDER]), await process([NEWER])]
    const browser = before.browser()
    await browser.login('alice')
    const [login] = await before.limiter.sessions.list(2)
    expect(login).toBeDefined()
    // The first request of a process is loaded before there is a guard, the second by it.
    await between.browser().get('/state')
    const signedAnew = browser.copy(between.origin)
    expect((await signedAnew.get('/state')).json()).toMatchObject({ session: { token: login?.token } })

    const later = browser.copy(after.origin)
    expect((await later.get('/state')).json()).toMatchObject({ session: { token: login?.token } })
    await after.limiter.sessions.endAll(2)
    expect((await later.get('/state')).json()).toHaveProperty('ended')
  },
)

test('a limiter refuses to log somebody in on a request that another one guards', async () => {
  const other = sessmgr()
  const koa = await startKoaHost({
    further: () => ({ 'GET /elsewhere': (ctx) => other.login(ctx, { id: 1 }) }),
  })
  const fastify = await startFastifyHost({
    further: ({ app }) => app.get('/elsewhere', async (request) => other.login(request, { id: 1 })),
  })
  for (const host of [koa, fastify]) {
    expect((await host.browser().get('/elsewhere')).status).toBe(500)
    expect(host.errors).toMatchObject([{ code: 'invalid_option', message: expect.stringContaining('another limiter') }])
  }
  expect(await other.sessions.count(1)).toBe(0)
  await other.close()
})
