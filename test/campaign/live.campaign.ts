import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { tokenOf } from '../../src/index.ts'
import { ageInRedis } from '../support/aging-places.ts'
import { type CalledProcess, startCalled } from '../support/called-process.ts'
import { openStream } from '../support/live-clients.ts'
import { printFigures } from '../support/print-figures.ts'
import { rounds } from '../support/rounds.ts'
import { useRedis } from '../support/use-redis.ts'

const db = useRedis()
const SWEEP_MS = 5000
const DEADLINE_MS = 2000
/** What a busy machine may add to a time that is promised. */
const SLACK_MS = 8000
const USERS = 250

interface LiveProcess extends CalledProcess {
  readonly origin: string
}

interface Opened {
  readonly userId: number
  readonly sessionId: string
  /** Resolves to how and when it was closed. */
  readonly closed: Promise<{ reason: string; at: number }>
  readonly process: LiveProcess
  isOpen(): boolean
  close(): unknown
}

let processes: LiveProcess[]
const start = async (live: object = {}, settings: object = { logic: 'logout_oldest' }) => {
  const setup = { url: db.server.url, settings: { maximum: 2, ...settings }, deadlineMs: DEADLINE_MS }
  const startOne = async () => {
    const own = { ...setup, live: { sweepEvery: SWEEP_MS, ...live } }
    const started = await startCalled<{ port?: number }>('live-process.mjs', own)
    return { ...started, origin: `http://127.0.0.1:${started.told[0]?.port}` }
  }
  processes = await Promise.all([startOne(), startOne(), startOne()])
}
beforeEach(() => {
  processes = []
})
afterEach(async () => {
  for (const { kill } of processes) await kill()
})

type Kind = 'ws' | 'stream'

/** Opens a connection of a session to a process. */
async function open(kind: Kind, process: LiveProcess, userId: number, sessionId: string): Promise<Opened> {
  const { origin } = process
  const query = `?user=${userId}&session=${sessionId}`
  let isOpen = true
  const opened = (closed: Promise<string>, close: () => unknown): Opened => ({
    userId,
    sessionId,
    process,
    closed: closed.then((reason) => {
      isOpen = false
      return { reason, at: Date.now() }
    }),
    isOpen: () => isOpen,
    close,
  })
  if (kind === 'stream') {
    const { closed, close } = await openStream(origin, { cookie: '' }, `/events${query}`)
    return opened(closed, close)
  }
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws${query}`, { origin })
  await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject))
  socket.on('error', () => {})
  const closed = new Promise<string>((resolve) => socket.on('close', (code, text) => resolve(`${code} ${text}`)))
  return opened(closed, () => socket.terminate())
}

/** Opens the connections of a round: of four, three are WebSockets, and one is a stream. */
function openOne(number: number): Promise<Opened> {
  const [userId, round] = [number % USERS, Math.floor(number / USERS)]
  const sessionId = `${round % 2 ? 'b' : 'a'}${userId}`
  const kind = ((round >> 1) + userId) % 4 === 1 ? 'stream' : 'ws'
  return open(kind, processes[(round + userId) % processes.length] as LiveProcess, userId, sessionId)
}

/** Signs every user in twice, and opens connections, spread over the processes. */
async function openMany(count: number): Promise<readonly Opened[]> {
  const [first] = processes as [LiveProcess]
  for (let userId = 0; userId < USERS; userId++) {
    for (const which of ['a', 'b']) await first.call('login', { userId, sessionId: `${which}${userId}` })
  }
  const opened: Opened[] = []
  for (let index = 0; index < count; index += 50) {
    const batch = Array.from({ length: Math.min(50, count - index) }, (_, each) => openOne(index + each))
    opened.push(...(await Promise.all(batch)))
  }
  return opened
}

type End = (process: LiveProcess, userId: number) => Promise<unknown>
type Endings = readonly (readonly [kind: string, end: End])[]

const END_ALL: End = (process, userId) => process.call('endAll', { userId })
const LOG_IN: End = (process, userId) => process.call('login', { userId, sessionId: `c${userId}` })
const ENDINGS: Endings = [
  ['app', (process, userId) => process.call('end', { userId, token: tokenOf(`a${userId}`) })],
  ['app', END_ALL],
  ['displaced', LOG_IN],
  [
    'chosen',
    (process, userId) => process.call('login', { userId, sessionId: `d${userId}`, ends: [tokenOf(`a${userId}`)] }),
  ],
]

/** Ends the sessions of users, each in one of the ways, from any process. Returns how long the closes took. */
async function endEach(opened: readonly Opened[], endings: Endings, pick: (userId: number) => boolean = () => true) {
  const closed: { time: number; reason: string; kind: string }[] = []
  for (let userId = 0; userId < USERS; userId++) {
    const [kind, end] = endings[userId % endings.length] as Endings[number]
    if (!pick(userId)) continue
    const own = opened.filter((each) => each.userId === userId)
    const over = own.filter(({ sessionId }) => end === END_ALL || sessionId.startsWith('a'))
    const begun = Date.now()
    await end(processes[userId % processes.length] as LiveProcess, userId)
    for (const { reason, at } of await Promise.all(over.map(({ closed }) => closed))) {
      closed.push({ time: at - begun, reason, kind })
    }
    expect(own.filter((each) => !over.includes(each) && !each.isOpen())).toEqual([])
  }
  const times = closed.map(({ time }) => time).sort((a, b) => a - b)
  return { times, unexplained: closed.filter(({ reason, kind }) => !reason.includes(`"kind":"${kind}"`)) }
}

const at = (times: readonly number[], share: number) => times[Math.floor((times.length - 1) * share)]
const sizes = () => Promise.all(processes.map((process) => process.call<number>('size')))
const NONE = [0, 0, 0]

async function logoutAll(opened: readonly Opened[], keep?: { userId: number; token: string }): Promise<void> {
  const begun = Date.now()
  await processes[0]?.call('logoutAll', { keep })
  const closed = await Promise.all(opened.map((each) => each.closed))
  printFigures('site-wide logout', { closed: closed.length, last: Math.max(...closed.map((each) => each.at)) - begun })
  expect(closed.filter(({ reason }) => !reason.includes('"kind":"logout_all"'))).toEqual([])
}

describe('5,000 connections over three processes', () => {
  it('close when their session ends, however it ends, and the others go on', async () => {
    await start({ sweepEvery: 600_000 })
    const opened = await openMany(rounds(500))
    const { times, unexplained } = await endEach(opened, ENDINGS)
    expect(unexplained).toEqual([])
    const figures = { closed: times.length, p50: at(times, 0.5), p99: at(times, 0.99), last: at(times, 1) }
    printFigures('close', { connections: opened.length, ...figures })
    await logoutAll(opened.filter((each) => each.isOpen()))
    expect(await sizes()).toEqual(NONE)
    expect(processes.flatMap(({ told }) => told.slice(1))).toEqual([])
  })

  it('close when their slot is needed because they are unused, and those of a kept session outlive a logout', async () => {
    await start({ sweepEvery: 600_000 }, { logic: 'block', idle_release: 300 })
    const opened = await openMany(rounds(500))
    for (let userId = 0; userId < USERS; userId++) {
      expect(await ageInRedis(db.client, userId, tokenOf(`a${userId}`), 600_000)).toBe(true)
    }
    const { times, unexplained } = await endEach(opened, [['idle', LOG_IN]])
    expect(unexplained).toEqual([])
    printFigures('idle release', { closed: times.length, p50: at(times, 0.5), p99: at(times, 0.99) })
    const left = opened.filter((each) => each.isOpen())
    const kept = left.filter(({ sessionId }) => sessionId === 'b7')
    expect(new Set(kept.map(({ process }) => process)).size).toBe(3)
    const others = left.filter((each) => !kept.includes(each))
    await logoutAll(others, { userId: 7, token: tokenOf('b7') })
    expect(kept.filter((each) => !each.isOpen())).toEqual([])
    expect((await sizes()).reduce((sum, size) => sum + size)).toBe(kept.length)
    await logoutAll(kept)
    expect(await sizes()).toEqual(NONE)
    expect(processes.flatMap(({ told }) => told.slice(1))).toEqual([])
  })

  it('close within the sweep and the deadline while subscribers are cut off again and again', async () => {
    await start()
    const opened = await openMany(rounds(500))
    let isOver = false
    const cutting = (async () => {
      for (; !isOver; await sleep(5)) await db.client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'pubsub'])
    })()
    const { times } = await endEach(opened, ENDINGS, (userId) => userId % 5 === 0)
    isOver = true
    await cutting
    printFigures('close without messages', { closed: times.length, p50: at(times, 0.5), last: at(times, 1) })
    expect(at(times, 1)).toBeLessThan(SWEEP_MS + DEADLINE_MS + SLACK_MS)
  })
})

it('a process that hangs closes its connections when it continues, and holds up no other', async () => {
  await start()
  const opened = await openMany(rounds(100))
  const [first, , hung] = processes as [LiveProcess, LiveProcess, LiveProcess]
  const [stuck, others] = [
    opened.filter(({ process }) => process === hung),
    opened.filter(({ process }) => process !== hung),
  ]
  hung.child.kill('SIGSTOP')
  try {
    const begun = Date.now()
    for (let userId = 0; userId < USERS; userId++) await first.call('endAll', { userId })
    const closed = await Promise.all(others.map((each) => each.closed))
    printFigures('beside a process that hangs', {
      closed: closed.length,
      last: Math.max(...closed.map(({ at }) => at)) - begun,
    })
    expect(stuck.filter((each) => !each.isOpen())).toEqual([])
  } finally {
    hung.child.kill('SIGCONT')
  }
  const continued = Date.now()
  const closed = await Promise.all(stuck.map((each) => each.closed))
  const last = Math.max(...closed.map(({ at }) => at)) - continued
  printFigures('in the process that hung', { closed: closed.length, last })
  expect(last).toBeLessThan(SWEEP_MS + DEADLINE_MS + SLACK_MS)
  expect(await sizes()).toEqual(NONE)
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
      expect(new Set(closed.map(({ reason }) => reason))).toEqual(new Set(['1013 try_again', 'data: hello\n\n']))
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
    const { times } = await endEach(opened, ENDINGS, (userId) => userId % 50 === 0)
    expect(times.length).toBeGreaterThan(0)
  })
})

it('a sweep of 5,000 connections takes less than 5 % of a core', async () => {
  await start()
  const [first] = processes as [LiveProcess]
  processes.splice(1).forEach(({ kill }) => void kill())
  await openMany(rounds(500))
  const before = await first.call<number>('cpu')
  await sleep(30_000)
  const share = ((await first.call<number>('cpu')) - before) / 30_000_000
  printFigures('sweep every 5 s', { share, 'every 15 s': share / 3 })
  expect(share / 3).toBeLessThan(0.05)
})

it('10,000 connections that come and go leave nothing behind', async () => {
  await start()
  processes.splice(1).forEach(({ kill }) => void kill())
  const [first] = processes as [LiveProcess]
  await first.call('login', { userId: 1, sessionId: 'a1' })
  const comeAndGo = async (count: number) => {
    for (let done = 0; done < count; done += 20) {
      const batch = Array.from({ length: 20 }, (_, index) => open(index % 4 === 1 ? 'stream' : 'ws', first, 1, 'a1'))
      for (const each of await Promise.all(batch)) each.close()
    }
    await expect.poll(() => first.call('size')).toBe(0)
    return first.call<number>('heap')
  }
  const heaps = [await comeAndGo(rounds(500))]
  for (let part = 0; part < 4; part++) heaps.push(await comeAndGo(rounds(250)))
  printFigures('heap in MB', { heaps })
  // A connection that stays behind takes more than 500 bytes.
  expect((heaps[4] as number) - (heaps[0] as number)).toBeLessThan(2)
})
