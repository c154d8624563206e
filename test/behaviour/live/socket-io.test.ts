import passport from 'passport'
import { expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { openIo, signIn } from '../../support/live-clients.ts'
import { type LiveHost, startLiveHost } from '../../support/live-host.ts'

const EVIL = 'https://evil.example'
/** A packet that joins the main namespace, one with an event of the client, and the answer to both. */
const JOIN = '40'
const TRANSFER = '42["transfer","mallory"]'
const SECRET = 'private data'

type Headers = Readonly<Record<string, string>>

/** Starts an application that tells each admitted client a secret, and obeys it. */
async function startBank(setup: Parameters<typeof startLiveHost>[0] = {}) {
  const host = await startLiveHost(setup)
  const transfers: string[] = []
  host.io.on('connection', (socket) => {
    socket.emit('secret', SECRET)
    socket.on('transfer', (to: string) => void transfers.push(to))
  })
  return { ...host, transfers, cookie: (await signIn(host.origin, 7)).cookie }
}

/** Speaks long polling with given headers. */
function pollWith({ origin }: Pick<LiveHost, 'origin'>, headers: Headers, query = '') {
  const url = `${origin}/io/?EIO=4&transport=polling${query}`
  const call = async (sid: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${sid && `&sid=${sid}`}`, { ...init, headers: { ...headers, ...init.headers } })
    return { status: response.status, text: await response.text() }
  }
  return {
    async open() {
      const answer = await call('')
      return { ...answer, sid: /\\?"sid\\?":\\?"([\w-]+)/.exec(answer.text)?.[1] ?? '' }
    },
    read: (sid: string, more: Headers = {}) => call(sid, { headers: more }),
    send: (sid: string, packet: string, more: Headers = {}) =>
      call(sid, { method: 'POST', body: packet, headers: more }),
  }
}

/** Opens a connection, joins, and returns the first packet that comes back. */
async function join(client: ReturnType<typeof pollWith>) {
  const { sid } = await client.open()
  await client.send(sid, JOIN)
  return { sid, first: (await client.read(sid)).text }
}

/** Upgrades a connection to a WebSocket. Resolves to what the probe got. */
async function upgrade({ origin }: Pick<LiveHost, 'origin'>, sid: string, headers: Headers): Promise<string> {
  const url = `${origin.replace('http', 'ws')}/io/?EIO=4&transport=websocket&sid=${sid}`
  const socket = new WebSocket(url, { headers })
  return new Promise((resolve) => {
    socket.on('open', () => socket.send('2probe'))
    socket.on('message', (data) => {
      socket.terminate()
      resolve(String(data))
    })
    socket.on('error', () => resolve('refused'))
  })
}

it('a page of another site neither reads nor drives a connection by scripts and forms', async () => {
  const host = await startBank()
  // What a browser sends with <script src> and with a form, over plain HTTP. It shows both answers to the page.
  const script = pollWith(host, { cookie: host.cookie }, '&j=0')
  for (const attempt of ['before any other client', 'after one']) {
    const { sid, text } = await script.open()
    const form = { origin: EVIL, 'content-type': 'application/x-www-form-urlencoded' }
    const heard = [text]
    if (sid) {
      await script.send(sid, `d=${JOIN}`, form)
      heard.push((await script.read(sid)).text)
      await script.send(sid, `d=${encodeURIComponent(TRANSFER)}`, form)
    } else expect(attempt).toBe('after one')
    expect(String(heard)).not.toContain(SECRET)
    const own = await openIo(host.origin, host)
    expect(own.isOpen()).toBe(true)
    own.close()
  }
  expect(host.transfers).toEqual([])
  expect((await script.open()).status).toBe(400)
  await expect.poll(() => host.live.size).toBe(0)
})

const OWN = ['same-origin', 'none']
const FOREIGN = ['cross-site', 'same-site']

it.each([
  ...[undefined, ...OWN].map((site) => [site, 'no origin', true] as const),
  ...FOREIGN.map((site) => [site, 'no origin', false] as const),
  ...[undefined, ...OWN, ...FOREIGN].map((site) => [site, 'its own origin', true] as const),
  ...[undefined, ...OWN, ...FOREIGN].map((site) => [site, EVIL, false] as const),
])('polling with Sec-Fetch-Site %s and %s: admitted %s', async (site, from, isAdmitted) => {
  const host = await startBank()
  const origin = from === EVIL ? EVIL : host.origin
  const sent = { ...(site && { 'sec-fetch-site': site }), ...(from !== 'no origin' && { origin }) }
  const headers: Headers = { cookie: host.cookie, ...sent }
  const { first } = await join(pollWith(host, headers))
  expect(first.startsWith('40')).toBe(isAdmitted)
  if (!isAdmitted) expect(first).toContain('foreign_origin')
})

it.each([
  [{}, true],
  [{ 'sec-fetch-site': 'same-origin' }, true],
  [{ 'sec-fetch-site': 'cross-site' }, false],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ origin: EVIL }, false],
] as const)('every request of an admitted connection is checked: %o is answered: %s', async (more, isOwn) => {
  const host = await startBank()
  const client = pollWith(host, { cookie: host.cookie })
  const { sid, first } = await join(client)
  expect(first).toContain('40')
  expect((await client.send(sid, TRANSFER, more)).status).toBe(isOwn ? 200 : 400)
  expect(host.transfers).toEqual(isOwn ? ['mallory'] : [])
  // Only browsers must send their origin with an upgrade, and they always do.
  expect(await upgrade(host, sid, { cookie: host.cookie, ...more })).toBe(isOwn ? '3probe' : 'refused')
})

it.each([{ 'sec-fetch-site': 'cross-site' }, { origin: EVIL }])(
  'no other page joins with a connection that the own page has opened: %o',
  async (more) => {
    const host = await startBank()
    await join(pollWith(host, { cookie: host.cookie }))
    const client = pollWith(host, { cookie: host.cookie })
    const { sid } = await client.open()
    await client.send(sid, JOIN, more)
    expect((await client.read(sid)).text).toBe('44{"message":"foreign_origin"}')
  },
)

it('the upgrade of the own page is admitted', async () => {
  const host = await startBank()
  const { sid } = await join(pollWith(host, { cookie: host.cookie }))
  expect(await upgrade(host, sid, { cookie: host.cookie, origin: host.origin })).toBe('3probe')
})

it.each([
  ['no origin', 'refused: foreign_origin'],
  [EVIL, 'refused: foreign_origin'],
  ['its own origin', 'open'],
])('a WebSocket with %s is %s', async (from, result) => {
  const host = await startBank()
  const origin = from === 'its own origin' ? host.origin : from
  const io = await openIo(host.origin, host, from === 'no origin' ? '' : origin)
  expect(io.isOpen() ? 'open' : await io.closed).toBe(result)
})

it('each namespace keeps its own sites', async () => {
  const host = await startBank()
  host.io.of('/chat').use(host.live.socketIo({ origins: [EVIL] }))
  const evil = pollWith(host, { cookie: host.cookie, origin: EVIL })
  const { sid } = await evil.open()
  await evil.send(sid, '40/chat,')
  expect((await evil.read(sid)).text).toContain('40/chat,')
  await evil.send(sid, JOIN)
  expect((await evil.read(sid)).text).toBe('44{"message":"foreign_origin"}')
  expect((await evil.send(sid, '42/chat,["event"]')).status).toBe(200)
})

it('guests are admitted where the application wants it, and signed-in users are still tracked', async () => {
  const host = await startBank({ socketIo: { guests: true } })
  const guest = await openIo(host.origin, { cookie: '' })
  expect(guest.isOpen()).toBe(true)
  expect(host.live.size).toBe(0)
  const user = await openIo(host.origin, host)
  expect(host.live.size).toBe(1)
  await host.limiter.sessions.endAll(7)
  expect(await user.closed).toContain('sessmgr:ended')
  expect(guest.isOpen()).toBe(true)
  // The guests of other sites stay out.
  expect(await (await openIo(host.origin, { cookie: '' }, EVIL)).closed).toBe('refused: foreign_origin')
  expect(() => host.live.socketIo({ guests: 1 as never })).toThrow('"guests" must be true or false')
})

it('one warning says that the engine of an old socket.io cannot be checked', async () => {
  const host = await startBank()
  const middleware = host.live.socketIo()
  const conn = { once: vi.fn(), off: vi.fn(), close: vi.fn(), server: { clients: {} } }
  for (const _ of [1, 2]) {
    const request = { headers: { host: 'x' }, _query: {} }
    const next = vi.fn()
    middleware({ request, conn, connected: false, on: vi.fn(), onAny: vi.fn() } as never, next)
    expect(next).toHaveBeenCalledWith(expect.objectContaining({ message: 'session_ended' }))
  }
  const told = host.logs.filter((line) => String(line).includes('Update socket.io to 4.6 or later'))
  expect(told).toHaveLength(1)
})

it('passport.session() gives sockets their user', async () => {
  const host = await startBank()
  const own = new passport.Passport()
  own.deserializeUser<number>((id, done) => done(null, { id } as never))
  host.io.engine.use((request: { session: object }, _response: unknown, next: () => void) => {
    Object.assign(request.session, { passport: { user: 7 } })
    next()
  })
  host.io.engine.use(own.session())
  const users: unknown[] = []
  host.io.on('connection', ({ request }) => void users.push((request as { user?: unknown }).user))
  await openIo(host.origin, host)
  expect(users).toEqual([{ id: 7 }])
})
