import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SessionRegistry, UserSessions } from '../../../src/sessions/session-registry.ts'
import type { SessmgrStore } from '../../../src/stores/store.ts'
import type { LimitStrategy } from '../../../src/strategies/limit-strategy.ts'
import { logoutOldest } from '../../../src/strategies/logout-oldest.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { IMPLEMENTATIONS, type OpenStore } from '../../contracts/store/store-case.ts'
import { createLimiterWorld, type LimiterWorld, SimpleHost } from '../../support/limiter-world.ts'
import { printFigures } from '../../support/print-figures.ts'

const USER = 7
/** Two logins, or three in the campaign, which takes ten times as long. */
const LOGINS = process.env.ROUNDS ? 3 : 2
const MAXIMUM = LOGINS - 1
/** What runs at once: logins, the end of the session that was there before, and a site-wide logout. */
const COMMANDS = [...Array<'login'>(LOGINS).fill('login'), 'end', 'logout'] as const
const MODES = [
  ...['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask'].map((logic) => [logic, 'memory'] as const),
  ['logout_oldest', 'rows'],
  ['block', 'rows'],
] as const

/** A fault to find. */
interface Fault {
  readonly logic?: string
  readonly strategies?: readonly LimitStrategy[]
  /** Replaces the commit. */
  commit?(raw: SessionRegistry, ...call: Parameters<SessionRegistry['commit']>): ReturnType<SessionRegistry['commit']>
}

/** One command in a process of its own. Its calls to the store wait until they are let through. */
class Process {
  readonly world: LimiterWorld
  readonly #waiting: (() => void)[] = []
  /** The calls that wait. */
  calls = ''
  /** What the next write would be based on, and how many writes there were before. */
  seen: readonly [sessions: string, writes: number] | undefined
  hasBegun = false
  outcome: string | undefined

  constructor(raw: SessmgrStore, host: SimpleHost, writes: { count: number }, logic: string, fault: Fault) {
    const { strategies = [], commit } = fault
    const held =
      <Call extends unknown[], Result>(name: string, call: (...given: Call) => Promise<Result>) =>
      async (...given: Call) => {
        this.calls += name
        await new Promise<void>((resolve) => this.#waiting.push(resolve))
        return call(...given)
      }
    const { sessions, epoch } = raw
    const read = async (userId: number) => {
      const found = await sessions.read(userId)
      this.seen = [sessionsIn(found), writes.count]
      return found
    }
    const counted =
      <Call extends unknown[], Result>(call: (...given: Call) => Promise<Result>) =>
      (...given: Call) => {
        writes.count += 1
        return call(...given)
      }
    const write = commit ? commit.bind(undefined, sessions) : sessions.commit.bind(sessions)
    const heldSessions = Object.assign(Object.create(sessions), {
      read: held('read ', read),
      commit: held('commit ', counted(write)),
      end: held('end ', counted(sessions.end.bind(sessions))),
      useOf: sessions.useOf.bind(sessions),
      changeState: held('change ', counted(sessions.changeState.bind(sessions))),
    })
    const heldEpoch = {
      current: held('epoch ', epoch.current.bind(epoch)),
      advance: held('advance ', epoch.advance.bind(epoch)),
    }
    const store = { ...raw, sessions: heldSessions, epoch: heldEpoch }
    this.world = createLimiterWorld({ store, host, settings: { maximum: MAXIMUM, logic }, strategies })
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** Lets all calls through that the command has made in one turn, and waits for its next ones. */
  async step(): Promise<void> {
    this.hasBegun = true
    this.calls = ''
    for (const pass of this.#waiting.splice(0)) pass()
    await this.settle()
  }

  async settle(): Promise<void> {
    while (!this.isWaiting && this.outcome === undefined) await nextTurn()
  }

  run(work: () => Promise<string>): void {
    work().then(
      (outcome) => {
        this.outcome = outcome
      },
      (error: { code?: string }) => {
        this.outcome = `error ${error.code}`
      },
    )
  }
}

/** Describes what decides how a login goes on: the sessions in order, and their generations. */
function sessionsIn({ sessions }: UserSessions): string {
  return sessions.map(({ sessionId, record: { generation } }) => `${sessionId} ${generation > 0}`).join()
}

interface Exploration {
  readonly logic: string
  readonly place: string
  readonly fault: Fault
}

/** Plays a schedule from the beginning, and returns where it has led. */
async function play({ logic, place, fault }: Exploration, schedule: readonly number[]) {
  const clock = fakeClock()
  const { store: raw, other } = (IMPLEMENTATIONS[place] as () => OpenStore)()
  const host = new SimpleHost()
  const before = createLimiterWorld({ store: raw, host, clock, settings: { maximum: MAXIMUM, logic: 'allow' } })
  await before.login(USER)
  const [earlier] = await before.limiter.sessions.list(USER)
  const writes = { count: 0 }
  const faults: string[] = []
  const registered = async () => (await raw.sessions.read(USER)).sessions.map(({ record }) => record.token)
  const processes = COMMANDS.map((command, index) => {
    const process = new Process(index % 2 ? other : raw, host, writes, logic, fault)
    const { limiter } = process.world
    limiter.hooks.addAction('sessmgr_session_ended', 'test/early', async ({ token }) => {
      if ((await registered()).includes(token)) faults.push('an end was told before it was stored')
    })
    process.run(async () => {
      if (command === 'end') return String(await limiter.sessions.end(USER, earlier?.token ?? ''))
      if (command === 'logout') return String(await limiter.sessions.logoutAllUsers())
      const admission = await limiter.admit({ userId: USER, ip: null, userAgent: null }, async () =>
        host.establish(60_000, `session ${index}`),
      )
      return admission.admitted ? 'admitted' : 'refused'
    })
    return process
  })
  const check = async () => {
    const live = await before.limiter.sessions.list(USER)
    if (live.length > MAXIMUM) faults.push(`${live.length} are live`)
  }
  for (const process of processes) await process.settle()
  for (const index of schedule) {
    await processes[index]?.step()
    await check()
  }
  await check()
  const admitted = processes.filter(({ outcome }) => outcome === 'admitted').length
  const isOver = processes.every(({ outcome }) => outcome !== undefined)
  const mayRefuse = logic === 'block' || logic === 'ask'
  if (isOver && !mayRefuse && admitted < LOGINS) faults.push('a login was lost')
  // The logins are alike, so they begin in order.
  const first = processes.findIndex(({ hasBegun }) => !hasBegun)
  const isNext = ({ isWaiting, hasBegun }: Process, index: number) =>
    isWaiting && (hasBegun || index === first || COMMANDS[index] !== 'login')
  const next = processes.flatMap((process, index) => (isNext(process, index) ? [index] : []))
  const state = JSON.stringify([
    sessionsIn(await raw.sessions.read(USER)),
    (await raw.epoch.current()).generation > 0,
    [...host.ids].sort(),
    processes.map(({ seen, calls, outcome }) => [seen?.[0], seen?.[1] === writes.count, calls, outcome]),
  ])
  return { faults, next, state }
}

/** Plays every schedule, and returns the faults. Schedules that lead to the same state are continued once. */
async function explore(exploration: Exploration) {
  const known = new Set<string>()
  const faults = new Set<string>()
  const open: (readonly number[])[] = [[]]
  let ends = 0
  for (let schedule = open.pop(); schedule; schedule = open.pop()) {
    const { faults: found, next, state } = await play(exploration, schedule)
    for (const one of found) faults.add(one)
    if (known.has(state)) continue
    known.add(state)
    if (next.length === 0) ends += 1
    for (const index of next) open.push([...schedule, index])
    if (faults.size > 0) break
  }
  return { faults: [...faults], states: known.size, ends }
}

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe(`every interleaving of ${LOGINS} logins, an end and a site-wide logout`, () => {
  it.each(MODES)('rule 5: keeps the limit in mode %s, over %s', async (logic, place) => {
    const { faults, states, ends } = await explore({ logic, place, fault: {} })
    printFigures(`${logic} over ${place}`, { states, ends })
    expect(faults).toEqual([])
    expect(states).toBeGreaterThan(50)
    expect(ends).toBeGreaterThan(1)
  })

  const oneTooFew: LimitStrategy = {
    ...logoutOldest,
    id: 'one_too_few',
    decide(context) {
      const decision = logoutOldest.decide(context)
      return { ...decision, end: decision.end.slice(1) }
    },
  }
  it.each<[string, string, Fault]>([
    [
      'a commit that compares nothing',
      'are live',
      { commit: async (raw, userId, _read, change) => raw.commit(userId, await raw.read(userId), change) },
    ],
    ['a mode that ends one session too few', 'are live', { logic: 'one_too_few', strategies: [oneTooFew] }],
    [
      'an end that is told before it is stored',
      'an end was told before it was stored',
      {
        async commit(raw, userId, read, change) {
          const ended = read.sessions.filter(({ record }) => change.end.includes(record.token))
          const [admitted] = ended
          return admitted ? { committed: true, admitted, ended } : raw.commit(userId, read, change)
        },
      },
    ],
  ])('finds %s', async (_, words, fault) => {
    const { faults } = await explore({ logic: fault.logic ?? 'logout_oldest', place: 'memory', fault })
    expect(faults.join()).toContain(words)
  })
})
