import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it, onTestFinished } from 'vitest'
import { explicitCalls } from '../../../src/explicit.ts'
import { memoryStore, type SessmgrOptions } from '../../../src/index.ts'
import { fakeClock } from '../../../src/testing.ts'
import { type LiveClient, openAll, openSocket, openStream, signIn } from '../../support/live-clients.ts'
import { type LiveHost, type LiveSetup, startLiveHost } from '../../support/live-host.ts'
import { TestStore } from '../../support/test-store.ts'

const MINUTE = 60_000

/** Two applications on one store, as in two processes, but without a sweep in time. */
async function startTwo(options: SessmgrOptions = {}, live: LiveSetup['live'] = { sweepEvery: 3_600_000 }) {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const sessions = new TestStore()
  const start = () => {
    const sessmgr = { settings: { maximum: 2 }, ...options, store }
    return startLiveHost({ sessmgr, sessionStore: sessions.twin(), live })
  }
  return { here: await start(), there: await start(), clock, store }
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
]

const reasonOf = (kind: string) => JSON.stringify({ code: 'session_ended', kind })

async function expectEnded(opened: Awaited<ReturnType<typeof openAll>>, kind: string) {
  expect(await opened.socket.closed).toBe(`4401 ${reasonOf(kind)}`)
  expect(await opened.stream.closed).toContain(`retry: 86400000\nevent: sessmgr-ended\ndata: ${reasonOf(kind)}\n\n`)
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
      const first = await signIn(here.origin, 7)
      const second = await signIn(here.origin, 7)
      const own = [await openAll(here.origin, first), await openAll(there.origin, first)]
      const others = await openAll(here.origin, second)
      expect([here.live.size, there.live.size]).toEqual([4, 2])
      await end(two, first, second)
      // The client has not confirmed yet, but the application no longer sends anything.
      expect(here.live.size).toBe(2)
      for (const opened of own) await expectEnded(opened, kind)
      expect(there.live.size).toBe(0)
      expect(others.all.map(({ isOpen }) => isOpen())).toEqual([true, true])
    },
  )

  it('are published on a channel when they close', async () => {
    const { here, there } = await startTwo()
    const client = await signIn(here.origin, 7)
    const opened = [await openAll(here.origin, client), await openAll(there.origin, client)]
    const seen = closesOf(client)
    await here.limiter.sessions.end(7, client.token)
    for (const each of opened) await expectEnded(each, 'app')
    const local = { userId: 7, token: client.token, code: 'session_ended', kind: 'app', how: 'local' }
    const message = { ...local, how: 'message' }
    expect(seen).toEqual([local, local, message, message])
  })

  it('close when all sessions of the user end, and those of other users go on', async () => {
    const { here, there } = await startTwo()
    const opened = [await openAll(here.origin, await signIn(here.origin, 7))]
    opened.push(await openAll(there.origin, await signIn(there.origin, 7)))
    const other = await openAll(there.origin, await signIn(there.origin, 8))
    await here.limiter.sessions.endAll(7)
    for (const each of opened) await expectEnded(each, 'app')
    expect(other.all.map(({ isOpen }) => isOpen())).toEqual([true, true])
  })

  it('close when the slot of an unused session is needed', async () => {
    const settings = { maximum: 1, logic: 'block', idle_release: 300 } as const
    const two = await startTwo({ settings })
    const opened = await openAll(two.there.origin, await signIn(two.here.origin, 7))
    two.clock.advance(6 * MINUTE)
    expect(await logIn(two, 7)).toMatchObject({ admitted: true })
    await expectEnded(opened, 'idle')
  })

  it('close within seconds of a site-wide logout, except those of the session that is kept', async () => {
    const { here, there } = await startTwo()
    const [first, second] = [await signIn(here.origin, 7), await signIn(here.origin, 8)]
    const kept = await openAll(there.origin, second)
    const opened = [await openAll(here.origin, first), await openAll(there.origin, first)]
    await here.limiter.sessions.logoutAllUsers(second)
    for (const each of opened) await expectEnded(each, 'logout_all')
    expect(kept.all.map(({ isOpen }) => isOpen())).toEqual([true, true])
    expect(there.live.size).toBe(2)
  })

  it('tell the client to reconnect if it has signed in again with the same browser', async () => {
    const { here } = await startTwo()
    const first = await signIn(here.origin, 7)
    const opened = await openAll(here.origin, first)
    await signIn(here.origin, 7, first.cookie)
    expect(await opened.socket.closed).toBe('4402 session_replaced')
    expect(await opened.stream.closed).toMatch(/event: sessmgr-replaced\ndata: \{"code":"session_replaced"\}\n\n$/)
  })

  it('close when the session expires, at the next sweep', async () => {
    const { here, clock } = await startTwo({}, { sweepEvery: 200 })
    const opened = await openAll(here.origin, await signIn(here.origin, 7))
    clock.advance(15 * 24 * 60 * MINUTE)
    expect(await opened.socket.closed).toBe('4401 {"code":"session_ended"}')
    await Promise.all(opened.all.map(({ closed }) => closed))
  })

  it('close at the next sweep, if no message arrives', async () => {
    const store = memoryStore()
    const { signals: _, ...silent } = store
    const sessionStore = new TestStore()
    const live = { sweepEvery: 200 }
    const here = await startLiveHost({ sessmgr: { store: silent }, sessionStore, live })
    const there = await startLiveHost({ sessmgr: { store: silent }, sessionStore: sessionStore.twin(), live })
    const client = await signIn(here.origin, 7)
    const opened = await openAll(there.origin, client)
    const seen = closesOf(client)
    await here.limiter.sessions.end(7, client.token)
    expect(await opened.socket.closed).toBe('4401 {"code":"session_ended"}')
    await Promise.all(opened.all.map(({ closed }) => closed))
    const message = { userId: 7, token: client.token, code: 'session_ended', how: 'sweep' }
    expect(seen).toEqual([message, message])
    expect(there.logs).toEqual([])
  })
})

describe('a connection without a session', () => {
  let host: LiveHost

  it('is refused', async () => {
    host = await startLiveHost()
    const nobody = { cookie: '' }
    expect(await (await openSocket(host.origin, nobody)).closed).toMatch(/^1006/)
    expect((await openStream(host.origin, nobody)).status).toBe(204)
    expect((await openStream(host.origin, nobody, '/download')).status).toBe(401)
    expect(host.live.size).toBe(0)
  })

  it('is closed if the session ends between the upgrade and the tracking', async () => {
    let client: LiveClient | undefined
    host = await startLiveHost({ beforeOpen: async () => client && host.limiter.sessions.end(7, client.token) })
    client = await signIn(host.origin, 7)
    expect(await (await openSocket(host.origin, client)).closed).toMatch(/^4401 /)
    expect(host.live.size).toBe(0)
  })
})

describe('a long response', () => {
  it('that is no event stream breaks off, so that it does not look complete', async () => {
    const host = await startLiveHost()
    const client = await signIn(host.origin, 7)
    const download = await openStream(host.origin, client, '/download')
    await host.limiter.sessions.end(7, client.token)
    expect(await download.closed).toBe('first part (broken off)')
  })

  it('that has not begun is answered 401', async () => {
    const host = await startLiveHost()
    const client = await signIn(host.origin, 7)
    const waiting = openStream(host.origin, client, '/waiting')
    await expect.poll(() => host.live.size).toBe(1)
    await host.limiter.sessions.end(7, client.token)
    expect((await waiting).status).toBe(401)
  })
})

describe('a client that has been closed', () => {
  it('is not heard any more, and is cut off if it does not confirm', async () => {
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
})
