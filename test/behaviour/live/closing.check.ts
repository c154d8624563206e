import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it, onTestFinished } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { memoryStore, type SessmgrOptions } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { type LiveClient, openAll, openSocket, openStream, signIn } from '../../support/live-clients.ts'
import { type LiveSetup, startLiveHost } from '../../support/live-host.ts'
import { TestStore } from '../../support/test-store.ts'

const MINUTE = 60_000

/** Two applications on one store, as in two processes, but without a sweep in time. */
async function startTwo(options: SessmgrOptions = {}, live: LiveSetup['live'] = { sweepEvery: 3_600_000 }) {
  const clock = fakeClock()
  const sessions = new TestStore()
  const sessmgr = { settings: { maximum: 2 }, store: memoryStore({ clock }), ...options }
  const start = () => startLiveHost({ sessmgr, sessionStore: sessions.twin(), live })
  return { here: await start(), there: await start(), clock }
}

type Two = Awaited<ReturnType<typeof startTwo>>
type End = (two: Two, first: LiveClient, second: LiveClient) => Promise<unknown>

/** Logs in with a new browser, of which the framework knows nothing. */
function logIn({ here }: Two, userId: number, ends?: string[]) {
  const calls = explicitCalls(here.limiter, { exists: async () => true, destroy: async () => {} })
  return calls.login({ userId, ends }, async () => ({ sessionId: `new-${Math.random()}`, ttlMs: MINUTE }))
}

const ENDINGS: readonly [kind: string, end: End, options?: SessmgrOptions][] = [
  ['app', ({ here }, { userId, token }) => here.limiter.sessions.end(userId, token)],
  ['admin', ({ here }, { userId, token }) => here.limiter.sessions.end(userId, token, { by: 'admin' })],
  ['user', ({ here }, _, { userId, token }) => here.limiter.sessions.endOthers(userId, token, { by: 'user' })],
  ['signed_out', ({ here }, { cookie }) => fetch(`${here.origin}/logout`, { method: 'POST', headers: { cookie } })],
  ['displaced', (two) => logIn(two, 7), { settings: { maximum: 2, logic: 'logout_oldest' } }],
  ['chosen', (two, first) => logIn(two, 7, [first.token]), { settings: { maximum: 2, logic: 'ask' } }],
  ['logout_all', ({ here }, _, second) => here.limiter.sessions.logoutAllUsers(second)],
]

const ended = (kind?: string) => JSON.stringify({ code: 'session_ended', kind })

async function expectEnded(opened: Awaited<ReturnType<typeof openAll>>, kind: string) {
  expect(await opened.socket.closed).toBe(`4401 ${ended(kind)}`)
  expect(await opened.stream.closed).toContain(`retry: 86400000\nevent: sessmgr-ended\ndata: ${ended(kind)}\n\n`)
}

/** Collects what is published when the connections of a session close. */
function closesOf(client: LiveClient): object[] {
  const seen: object[] = []
  const note = (message: unknown) => {
    if ((message as LiveClient).token === client.token) seen.push(message as object)
  }
  subscribe('sessmgr.live.closed', note)
  onTestFinished(() => void unsubscribe('sessmgr.live.closed', note))
  return seen
}

describe('the connections of a session', () => {
  it.each(ENDINGS)(
    'close in every process when it ends as %s, and those of the same user go on',
    async (kind, end, options) => {
      const two = await startTwo(options)
      const { here, there } = two
      const [first, second] = [await signIn(here.origin, 7), await signIn(here.origin, 7)]
      const own = [await openAll(here.origin, first), await openAll(there.origin, first)]
      const others = await openAll(there.origin, second)
      expect([here.live.size, there.live.size]).toEqual([2, 4])
      await end(two, first, second)
      // The client has not confirmed yet, but the application no longer sends anything.
      if (kind !== 'logout_all') expect(here.live.size).toBe(0)
      for (const opened of own) await expectEnded(opened, kind)
      expect([here.live.size, there.live.size]).toEqual([0, 2])
      expect(others.all.map(({ isOpen }) => isOpen())).toEqual([true, true])
    },
  )

  it('are published on a channel, and close with all sessions of their user, but of no other', async () => {
    const { here, there } = await startTwo()
    const client = await signIn(here.origin, 7)
    const opened = [await openAll(here.origin, client), await openAll(there.origin, client)]
    const other = await openAll(there.origin, await signIn(there.origin, 8))
    const seen = closesOf(client)
    await here.limiter.sessions.endAll(7)
    for (const each of opened) await expectEnded(each, 'app')
    const local = { userId: 7, token: client.token, code: 'session_ended', kind: 'app', how: 'local' }
    const message = { ...local, how: 'message' }
    expect(seen).toEqual([local, local, message, message])
    expect(other.all.map(({ isOpen }) => isOpen())).toEqual([true, true])
  })

  it('close when the slot of an unused session is needed', async () => {
    const two = await startTwo({ settings: { maximum: 1, logic: 'block', idle_release: 300 } })
    const opened = await openAll(two.there.origin, await signIn(two.here.origin, 7))
    two.clock.advance(6 * MINUTE)
    expect(await logIn(two, 7)).toMatchObject({ admitted: true })
    await expectEnded(opened, 'idle')
  })

  it('tell the client to reconnect if it has signed in again with the same browser', async () => {
    const { here } = await startTwo()
    const first = await signIn(here.origin, 7)
    const opened = await openAll(here.origin, first)
    await signIn(here.origin, 7, first.cookie)
    expect(await opened.socket.closed).toBe('4402 session_replaced')
    expect(await opened.stream.closed).toMatch(/event: sessmgr-replaced\ndata: \{"code":"session_replaced"\}\n\n$/)
  })

  it('close at the next sweep when the session has expired, or if no message arrives', async () => {
    const { signals: _, ...silent } = memoryStore()
    const { here, there } = await startTwo({ store: silent }, { sweepEvery: 200 })
    const client = await signIn(here.origin, 7)
    const opened = await openAll(there.origin, client)
    const seen = closesOf(client)
    await here.limiter.sessions.end(7, client.token)
    expect(await opened.socket.closed).toBe(`4401 ${ended()}`)
    await opened.stream.closed
    const message = { userId: 7, token: client.token, code: 'session_ended', how: 'sweep' }
    expect([seen, there.logs]).toEqual([[message, message], []])
    const expiring = await startTwo({}, { sweepEvery: 200 })
    const old = await openSocket(expiring.here.origin, await signIn(expiring.here.origin, 7))
    expiring.clock.advance(15 * 24 * 60 * MINUTE)
    expect(await old.closed).toBe(`4401 ${ended()}`)
  })
})

it('a connection whose session ends between the upgrade and the tracking is closed', async () => {
  let client: LiveClient | undefined
  const host = await startLiveHost({ beforeOpen: async () => client && host.limiter.sessions.end(7, client.token) })
  client = await signIn(host.origin, 7)
  expect(await (await openSocket(host.origin, client)).closed).toMatch(/^4401 /)
  expect(host.live.size).toBe(0)
})

it('a long response breaks off, so that it does not look complete, or is answered 401 if it has not begun', async () => {
  const host = await startLiveHost()
  expect((await openStream(host.origin, { cookie: '' }, '/download')).status).toBe(401)
  const client = await signIn(host.origin, 7)
  const [download, waiting] = [
    await openStream(host.origin, client, '/download'),
    openStream(host.origin, client, '/waiting'),
  ]
  await expect.poll(() => host.live.size).toBe(2)
  await host.limiter.sessions.end(7, client.token)
  expect([await download.closed, (await waiting).status]).toEqual(['first part (broken off)', 401])
})

it('a client that has been closed is not heard any more, and is cut off if it does not confirm', async () => {
  const host = await startLiveHost({ live: { closeAfterMs: 100 } })
  const client = await signIn(host.origin, 7)
  const socket = await openSocket(host.origin, client)
  socket.send('before')
  await expect.poll(() => host.heard).toEqual(['before'])
  // Reads nothing, so it does not confirm.
  socket.pause()
  await host.limiter.sessions.end(7, client.token)
  socket.send('after')
  await expect.poll(() => host.sockets.size).toBe(0)
  expect(host.heard).toEqual(['before'])
  socket.resume()
  await socket.closed
})
