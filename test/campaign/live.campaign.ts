import { setTimeout as sleep } from 'node:timers/promises'
import { io } from 'socket.io-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { tokenOf } from '../../src/index.ts'
import { openStream } from '../support/live-clients.ts'
import { type LiveProcess, startLiveProcess } from '../support/live-processes.ts'
import { printFigures } from '../support/print-figures.ts'
import { rounds } from '../support/rounds.ts'
import { useRedis } from '../support/use-redis.ts'

const db = useRedis()
const SWEEP_MS = 5000
const DEADLINE_MS = 2000
/** What a busy machine may add to a time that is promised. */
const SLACK_MS = 8000
const USERS = 250

interface Opened {
  readonly userId: number
  readonly sessionId: string
  /** Resolves to how and when it was closed. */
  readonly closed: Promise<{ reason: string; at: number }>
  isOpen(): boolean
}

let processes: LiveProcess[]
const start = async (live: object = {}) => {
  const setup = { url: db.server.url, settings: { maximum: 2, logic: 'logout_oldest' }, deadlineMs: DEADLINE_MS }
  const startOne = () => startLiveProcess({ ...setup, live: { sweepEvery: SWEEP_MS, ...live } })
  processes = await Promise.all([startOne(), startOne(), startOne()])
}
beforeEach(() => {
  processes = []
})
afterEach(async () => {
  for (const { stop } of processes) await stop()
})

/** Opens a connection of one of three kinds: of four, two are WebSockets, one is a stream, and one is socket.io. */
async function open(index: number, userId: number, sessionId: string): Promise<Opened> {
  const { origin } = processes[index % processes.length] as LiveProcess
  const query = `?user=${userId}&session=${sessionId}`
  let isOpen = true
  const ended = (reason: string) => {
    isOpen = false
    return { reason, at: Date.now() }
  }
  if (index % 8 === 1 || index % 8 === 4) {
    const stream = await openStream(origin, { cookie: '' }, `/events${query}`)
    return { userId, sessionId, closed: stream.closed.then(ended), isOpen: () => isOpen }
  }
  if (index % 8 === 2 || index % 8 === 7) {
    const socket = io(origin + query, {
      path: '/io',
      forceNew: true,
      reconnection: false,
      extraHeaders: { origin },
      transports: ['websocket'],
    })
    await new Promise<void>((resolve, reject) => socket.on('connect', resolve).on('connect_error', reject))
    let last = ''
    socket.onAny((event) => {
      last = event
    })
    const closed = new Promise<string>((resolve) => socket.on('disconnect', (reason) => resolve(`${last} ${reason}`)))
    return { userId, sessionId, closed: closed.then(ended), isOpen: () => isOpen }
  }
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws${query}`, { origin })
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => socket.on('close', (code, text) => resolve(`${code} ${text}`)))
  return { userId, sessionId, closed: closed.then(ended), isOpen: () => isOpen }
}

/** Signs every user in twice, and opens connections, spread over the processes. */
async function openMany(count: number): Promise<readonly Opened[]> {
  const [first] = processes as [LiveProcess]
  for (let userId = 0; userId < USERS; userId++) {
    for (const which of ['a', 'b']) await first.call('login', { userId, sessionId: `${which}${userId}` })
  }
  const opened: Opened[] = []
  for (let index = 0; index < count; index += 50) {
    const batch = Array.from({ length: Math.min(50, count - index) }, (_, each) => {
      const number = index + each
      return open(number, number % USERS, `${Math.floor(number / USERS) % 2 ? 'b' : 'a'}${number % USERS}`)
    })
    opened.push(...(await Promise.all(batch)))
  }
  return opened
}

const ENDINGS: Record<string, (process: LiveProcess, userId: number) => Promise<unknown>> = {
  'an end': (process, userId) => process.call('end', { userId, token: tokenOf(`a${userId}`) }),
  'the end of all': (process, userId) => process.call('endAll', { userId }),
  displacement: (process, userId) => process.call('login', { userId, sessionId: `c${userId}` }),
  choice: (process, userId) =>
    process.call('login', { userId, sessionId: `d${userId}`, ends: [tokenOf(`a${userId}`)] }),
}

/** Ends the sessions of every fourth user in one way, from any process, and returns how long the closes took. */
async function endAll(opened: readonly Opened[], pick: (userId: number) => boolean) {
  const times: number[] = []
  const names = Object.keys(ENDINGS)
  for (let userId = 0; userId < USERS; userId++) {
    const name = names[userId % names.length] as string
    if (!pick(userId)) continue
    const own = opened.filter((each) => each.userId === userId)
    const over = own.filter(({ sessionId }) => name === 'the end of all' || sessionId.startsWith('a'))
    const begun = Date.now()
    await ENDINGS[name]?.(processes[userId % processes.length] as LiveProcess, userId)
    const closed = await Promise.all(over.map(({ closed }) => closed))
    times.push(...closed.map(({ at }) => at - begun))
    expect(own.filter((each) => !over.includes(each)).every((each) => each.isOpen())).toBe(true)
  }
  return times.sort((a, b) => a - b)
}

const at = (times: readonly number[], share: number) => times[Math.floor((times.length - 1) * share)]

describe('5,000 connections over three processes', () => {
  it('close when their session ends, however it ends, and the others go on', async () => {
    await start({ sweepEvery: 600_000 })
    const opened = await openMany(rounds(500))
    const times = await endAll(opened, () => true)
    printFigures('close', {
      connections: opened.length,
      closed: times.length,
      p50: at(times, 0.5),
      p99: at(times, 0.99),
    })
    const begun = Date.now()
    await processes[0]?.call('logoutAll')
    const rest = await Promise.all(opened.map(({ closed }) => closed))
    printFigures('site-wide logout', { last: Math.max(...rest.map((each) => each.at)) - begun })
    for (const process of processes) expect(await process.call('size')).toBe(0)
    expect(processes.flatMap(({ logs }) => logs)).toEqual([])
  })

  it('close within the sweep and the deadline while subscribers are cut off again and again', async () => {
    await start()
    const opened = await openMany(rounds(500))
    let isOver = false
    const cutting = (async () => {
      for (; !isOver; await sleep(5)) await db.client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
    })()
    const times = await endAll(opened, (userId) => userId % 5 === 0)
    isOver = true
    await cutting
    printFigures('close without messages', { closed: times.length, p50: at(times, 0.5), last: at(times, 1) })
    expect(at(times, 1)).toBeLessThan(SWEEP_MS + DEADLINE_MS + SLACK_MS)
  })
})

describe('while Redis has stopped', () => {
  it('connections are kept for the grace, and then closed so that clients come again later', async () => {
    const graceMs = 4000
    await start({ sweepEvery: 1000, graceMs })
    const opened = await openMany(rounds(100))
    const stopped = Date.now()
    db.server.process.kill('SIGSTOP')
    try {
      const closed = await Promise.all(opened.map((each) => each.closed))
      const times = closed.map((each) => each.at - stopped)
      printFigures('stopped', { connections: closed.length, first: Math.min(...times), last: Math.max(...times) })
      expect(Math.min(...times)).toBeGreaterThanOrEqual(graceMs)
      expect(new Set(closed.map(({ reason }) => reason))).toEqual(
        new Set(['1013 try_again', ' transport close', 'data: hello\n\n']),
      )
    } finally {
      db.server.process.kill('SIGCONT')
    }
  })

  it('and continues within the grace, none is closed', async () => {
    await start({ sweepEvery: 1000, graceMs: 60_000 })
    const opened = await openMany(rounds(100))
    db.server.process.kill('SIGSTOP')
    await sleep(2 * DEADLINE_MS + 2000)
    db.server.process.kill('SIGCONT')
    await sleep(SWEEP_MS)
    expect(opened.filter((each) => !each.isOpen())).toEqual([])
    const times = await endAll(opened, (userId) => userId % 50 === 0)
    expect(times.length).toBeGreaterThan(0)
  })
})

it('a sweep of 5,000 connections takes less than 5 % of a core', async () => {
  await start()
  const [first] = processes as [LiveProcess]
  processes.splice(1).forEach(({ stop }) => void stop())
  await openMany(rounds(500))
  const before = await first.call<number>('cpu')
  await sleep(30_000)
  const share = ((await first.call<number>('cpu')) - before) / 30_000_000
  printFigures('sweep every 5 s', { share, 'every 15 s': share / 3 })
  expect(share / 3).toBeLessThan(0.05)
})

it('10,000 connections that come and go leave nothing behind', async () => {
  await start()
  processes.splice(1).forEach(({ stop }) => void stop())
  const [first] = processes as [LiveProcess]
  await first.call('login', { userId: 1, sessionId: 'a1' })
  for (let count = 0; count < rounds(1000); count += 20) {
    const sockets = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = new WebSocket(`${first.origin.replace('http', 'ws')}/ws?user=1&session=a1`, {
          origin: first.origin,
        })
        await new Promise((resolve) => socket.once('message', resolve))
        return socket
      }),
    )
    for (const socket of sockets) socket.terminate()
  }
  await expect.poll(() => first.call('size')).toBe(0)
})
