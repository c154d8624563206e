import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tokenOf } from '../../../src/sessions/session-record.ts'
import { memoryStore } from '../../../src/stores/memory-store.ts'
import { IMPLEMENTATIONS } from '../../contracts/store/store-case.ts'
import { runInterleavings } from '../../support/interleavings.ts'
import { createLimiterWorld, type LimiterWorld, SimpleHost } from '../../support/limiter-world.ts'
import type { FiredAction } from '../../support/record-actions.ts'
import { rounds } from '../../support/rounds.ts'
import { wholeSettings } from '../../support/whole-settings.ts'

interface ModelSession {
  readonly id: string
  readonly user: number
  generation: number
  expiresAt: number
  usedAt: number
}

/**
 * A model of the rules of the session limit that is as simple as possible: one list of sessions, in order of admission.
 *
 * It has no registries, versions or strategies, so that it can disagree with them.
 */
class LimiterModel {
  now: number
  maximum = 1
  logic = 'allow'
  /** In seconds; at least three times the minute after which a use is recorded again. */
  idleRelease = 0
  bypass = false
  generation = 0
  /** Sessions that the host's store holds. */
  sessions: ModelSession[] = []
  readonly fired: FiredAction[] = []
  /** How many unused sessions have freed their slots. */
  released = 0
  /** Users whose sessions were all ended, including unregistered ones. */
  readonly #marked = new Set<number>()

  constructor(now: number) {
    this.now = now
  }

  /** Raw ids of a user's live sessions, oldest first. */
  live(user: number): string[] {
    return this.#registered(user)
      .filter(({ generation }) => generation >= this.generation)
      .map(({ id }) => id)
  }

  login(user: number, id: string, ttlMs: number, replaces: string | undefined): boolean {
    const others = this.live(user).filter((other) => other !== replaces)
    if (!this.bypass && others.length >= this.maximum) {
      const need = others.length + 1 - this.maximum
      if (this.logic === 'block' && this.#idle(others).length < need) {
        this.fired.push(['sessmgr_login_blocked', user])
        return false
      }
      const inTurn = { allow: others, logout_oldest: others.slice(0, need), block: this.#idle(others).slice(0, need) }
      const displaced = inTurn[this.logic as keyof typeof inTurn] ?? this.#longestUnused(others).slice(0, need)
      this.#remove(displaced)
      if (this.logic === 'block') this.released += displaced.length
      if (this.logic === 'block' || this.logic === 'logout_idlest') {
        for (const ended of displaced) this.fired.push(['sessmgr_destroy_session', user, tokenOf(ended)])
      }
      if (this.logic === 'allow') this.fired.push(['sessmgr_destroy_all_sessions', user])
      if (this.logic === 'logout_oldest') {
        for (const _ of displaced) this.fired.push(['sessmgr_destroy_oldest_session', user])
      }
    }
    if (replaces !== undefined && this.#isRegistered(replaces)) this.#remove([replaces])
    this.sessions.push({ id, user, generation: this.generation, expiresAt: this.now + ttlMs, usedAt: this.now })
    return true
  }

  /** Makes the first request of a session from before the service, and returns what happens to it. */
  adopt(user: number, id: string, ttlMs: number): 'live' | 'ended' | 'logout_all' {
    if (this.#marked.has(user)) return 'ended'
    this.sessions.push({ id, user, generation: 0, expiresAt: this.now + ttlMs, usedAt: this.now })
    return this.generation === 0 ? 'live' : 'logout_all'
  }

  /** Makes a request with a session, and returns what happens to it. */
  visit({ id, user, generation }: ModelSession, ttlMs: number): 'live' | 'ended' | 'logout_all' {
    const session = this.#registered(user).find((other) => other.id === id)
    if (!session || generation < this.generation) this.#remove([id])
    if (!session) return 'ended'
    if (generation < this.generation) {
      this.fired.push(['sessmgr_session_invalidated', user, tokenOf(id)])
      return 'logout_all'
    }
    session.expiresAt = this.now + ttlMs
    session.usedAt = this.now
    return 'live'
  }

  /** Ends a session as the host does, or loses it in its store. */
  logout({ id }: ModelSession): void {
    this.#remove([id])
  }

  endOne({ id, user }: ModelSession): boolean {
    if (!this.#isRegistered(id)) return false
    this.#remove([id])
    this.fired.push(['sessmgr_destroy_session', user, tokenOf(id)])
    return true
  }

  endAll(user: number): void {
    this.#marked.add(user)
    this.#remove(this.#registered(user).map(({ id }) => id))
    this.fired.push(['sessmgr_destroy_all_sessions', user])
  }

  /** Logs everybody out, and returns the time in seconds, or the error if the session to keep is over. */
  logoutAllUsers(keep?: ModelSession): number | 'session_ended' {
    if (keep && !this.live(keep.user).includes(keep.id)) return 'session_ended'
    this.generation += 1
    if (keep) keep.generation = this.generation
    const epoch = Math.floor(this.now / 1000)
    this.fired.push(['sessmgr_logout_all_users', epoch])
    return epoch
  }

  /** Returns the sessions of a user that have not expired, stale or not. */
  #registered(user: number): ModelSession[] {
    return this.sessions.filter((session) => session.user === user && session.expiresAt > this.now)
  }

  #longestUnused(ids: readonly string[]): string[] {
    const usedAt = (id: string) => this.sessions.find((session) => session.id === id)?.usedAt ?? 0
    return ids.toSorted((a, b) => usedAt(a) - usedAt(b))
  }

  /** Those that nobody has used for so long that they free their slots. */
  #idle(ids: readonly string[]): string[] {
    const isIdle = ({ usedAt }: ModelSession) => this.idleRelease > 0 && this.now - usedAt >= this.idleRelease * 1000
    const idle = this.sessions.filter(isIdle).map(({ id }) => id)
    return this.#longestUnused(ids).filter((id) => idle.includes(id))
  }

  #isRegistered(id: string): boolean {
    return this.sessions.some((session) => session.id === id && session.expiresAt > this.now)
  }

  #remove(ids: readonly string[]): void {
    this.sessions = this.sessions.filter(({ id }) => !ids.includes(id))
  }
}

const USERS = [1, 2]

const user = fc.constantFrom(...USERS)
const ttlMs = fc.constantFrom<number>(10_000, 60_000, 600_000)
/** Chooses one of the sessions that the host holds, if there is one. */
const pick = fc.nat({ max: 1000 })
const changes = fc.record(
  {
    maximum: fc.integer({ min: 1, max: 4 }),
    logic: fc.constantFrom<string>('allow', 'logout_oldest', 'logout_idlest', 'block'),
    idle_release: fc.constantFrom<number>(0, 300),
  },
  { requiredKeys: [] },
)
const kind = <K extends string>(name: K) => fc.constant(name)

const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: kind('login'), user, ttlMs }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('login again'), pick, ttlMs }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('visit'), pick, ttlMs }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('adopt'), user, ttlMs }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('logout'), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('lose'), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('end one'), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('end all'), user }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('log all users out') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('log all others out'), pick }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('set'), changes }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('wait'), ms: fc.constantFrom<number>(1, 5000, 10_000, 70_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('bypass'), on: fc.boolean() }) },
)
/** Those after which sessions have often been unused for as long as it takes to free their slots. */
const slowCommand: typeof command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: kind('login'), user: fc.constant(1), ttlMs: fc.constant(900_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('visit'), pick, ttlMs: fc.constant(900_000) }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('wait'), ms: fc.constantFrom(1, 100_000, 199_999) }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('set'), changes }) },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

/** What the limiter answered, and what the model did. */
type Answers = readonly [real: unknown, expected: unknown]

async function run(command: Command, real: LimiterWorld, model: LimiterModel): Promise<Answers | undefined> {
  if (!('pick' in command)) return runOnSite(command, real, model)
  const session = model.sessions[command.pick % model.sessions.length]
  return session && runOnSession(command, session, real, model)
}

async function runOnSite(
  command: Exclude<Command, { pick: number }>,
  real: LimiterWorld,
  model: LimiterModel,
): Promise<Answers | undefined> {
  const { limiter, host, clock } = real
  switch (command.kind) {
    case 'login':
      return logIn(real, model, command.user, command.ttlMs)
    case 'adopt': {
      const { sessionId } = host.establish()
      const { user, ttlMs } = command
      const verdict = await limiter.adopt(user, { sessionId, ttlMs, ip: null, userAgent: null, device: null })
      const becomes = verdict.live ? 'live' : verdict.reason
      // As the guard does with a session that is over.
      if (becomes === 'ended') host.ids.delete(sessionId)
      return [becomes, model.adopt(user, sessionId, ttlMs)]
    }
    case 'end all':
      model.endAll(command.user)
      await limiter.sessions.endAll(command.user)
      return
    case 'log all users out':
      return [await limiter.sessions.logoutAllUsers(), model.logoutAllUsers()]
    case 'set':
      model.maximum = command.changes.maximum ?? model.maximum
      model.logic = command.changes.logic ?? model.logic
      model.idleRelease = command.changes.idle_release ?? model.idleRelease
      return [
        await limiter.settings.update(command.changes),
        wholeSettings({ maximum: model.maximum, logic: model.logic, idle_release: model.idleRelease }),
      ]
    case 'wait':
      model.now += command.ms
      return void clock.advance(command.ms)
    case 'bypass':
      model.bypass = command.on
  }
}

async function runOnSession(
  command: Extract<Command, { pick: number }>,
  session: ModelSession,
  real: LimiterWorld,
  model: LimiterModel,
): Promise<Answers | undefined> {
  const { limiter, host } = real
  const { id, user } = session
  switch (command.kind) {
    case 'login again':
      return logIn(real, model, user, command.ttlMs, id)
    case 'visit':
      return [await visit(real, session, command.ttlMs), model.visit(session, command.ttlMs)]
    case 'logout':
      model.logout(session)
      host.ids.delete(id)
      return void (await limiter.release(user, tokenOf(id)))
    case 'lose':
      model.logout(session)
      return void host.ids.delete(id)
    case 'log all others out':
      return [
        await limiter.sessions.logoutAllUsers({ userId: user, token: tokenOf(id) }).catch(({ code }) => code),
        model.logoutAllUsers(session),
      ]
    case 'end one':
      return [await limiter.sessions.end(user, tokenOf(id)), model.endOne(session)]
  }
}

async function logIn(
  { limiter, host }: LimiterWorld,
  model: LimiterModel,
  userId: number,
  ttlMs: number,
  replaces?: string,
): Promise<Answers> {
  const id = host.nextId()
  const attempt = { userId, replaces, ip: null, userAgent: null }
  const { admitted } = await limiter.admit(attempt, async () => host.establish(ttlMs, id))
  return [admitted, model.login(userId, id, ttlMs, replaces)]
}

/** What the host does with a session that a request brings. */
async function visit({ limiter, host }: LimiterWorld, { id, user }: ModelSession, ttlMs: number): Promise<string> {
  const verdict = await limiter.check(user, tokenOf(id))
  if (verdict.live) {
    await limiter.touch(user, tokenOf(id), ttlMs)
    return 'live'
  }
  if (verdict.reason === 'logout_all') await limiter.invalidate(user, id)
  await host.destroy(id)
  return verdict.reason
}

/** Compares the limiter with the model, and returns the names of what has happened. */
async function compare(command: fc.Arbitrary<Command>, initial: Command, numRuns: number): Promise<string[]> {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60, size: 'max' }), async (commands) => {
      const real = createLimiterWorld()
      const model = new LimiterModel(real.clock.now())
      real.limiter.hooks.addFilter('sessmgr_bypass', 'model', () => model.bypass)
      for (const command of [initial, ...commands]) {
        const answers = await run(command, real, model)
        if (answers) expect(answers[0], command.kind).toEqual(answers[1])
        for (const user of USERS) {
          const tokens = (await real.limiter.sessions.list(user)).map(({ token }) => token)
          expect(tokens, command.kind).toEqual(model.live(user).map(tokenOf))
        }
        expect([...real.host.ids].sort(), command.kind).toEqual(model.sessions.map(({ id }) => id).sort())
        expect(real.fired.length, command.kind).toBe(model.fired.length)
      }
      expect(real.fired).toEqual(model.fired)
      for (const [name] of model.fired) seen.add(name)
      if (model.released > 0) seen.add('released')
    }),
    { numRuns },
  )
  return [...seen].sort()
}

it('agrees with the model on every answer, every live session, every stored session and every action', async () => {
  const seen = await compare(command, { kind: 'set', changes: {} }, rounds(100))
  // A model test that never gets anywhere would agree as well.
  expect(seen.filter((name) => name !== 'released')).toEqual([
    'sessmgr_destroy_all_sessions',
    'sessmgr_destroy_oldest_session',
    'sessmgr_destroy_session',
    'sessmgr_login_blocked',
    'sessmgr_logout_all_users',
    'sessmgr_session_invalidated',
  ])
})

it('agrees with the model on sessions that free their slots because they are unused', async () => {
  const changes = { logic: 'block', maximum: 2, idle_release: 300 }
  expect(await compare(slowCommand, { kind: 'set', changes }, rounds(30))).toContain('released')
})

/** How many of `logins` one after the other are live in the end. */
const expectedLive: Record<string, (logins: number, maximum: number) => number> = {
  allow: (logins, maximum) => ((logins - 1) % maximum) + 1,
  logout_oldest: Math.min,
  logout_idlest: Math.min,
  block: Math.min,
}

describe('parallel logins', () => {
  it('rule 5: leave exactly as many sessions as logins one after the other, over several processes', async () => {
    const logic = fc.constantFrom(...Object.keys(expectedLive))
    const logins = fc.integer({ min: 1, max: 12 })
    await fc.assert(
      fc.asyncProperty(logic, logins, fc.integer({ min: 1, max: 4 }), async (logic, logins, maximum) => {
        const shared = { store: memoryStore(), host: new SimpleHost(), settings: { maximum, logic } }
        const processes = Array.from({ length: 3 }, () => createLimiterWorld(shared))
        const login = (index: number) => processes[index % processes.length]?.login(7)
        const admitted = (await Promise.all(Array.from({ length: logins }, (_, index) => login(index)))).filter(Boolean)
        const expected = expectedLive[logic]?.(logins, maximum)
        expect(await processes[0]?.limiter.sessions.count(7)).toBe(expected)
        expect(shared.host.ids.size).toBe(expected)
        expect(admitted).toHaveLength(logic === 'block' ? Math.min(logins, maximum) : logins)
      }),
      { numRuns: rounds(40) },
    )
  })

  it('wait for no login that hangs, be it of another user or of their own', async () => {
    const { limiter, host } = createLimiterWorld()
    const attempt = (userId: number) => ({ userId, ip: null, userAgent: null })
    void limiter.admit(attempt(1), () => new Promise<never>(() => {}))
    for (const userId of [2, 1]) {
      const admission = await limiter.admit(attempt(userId), async () => host.establish())
      expect(admission.admitted, `user ${userId}`).toBe(true)
    }
  })

  // Over Redis and SQLite: behaviour/stores/interleavings.check.ts. One after the other: every-interleaving.check.ts.
  it.each(Object.entries(IMPLEMENTATIONS))(
    'rule 5: among choices, ends, uses and site-wide logouts never exceed the limit, over %s',
    async (_, open) => {
      const { store, other, pass } = open()
      const place = { open: (process: number) => (process % 2 ? other : store), pass }
      const { faults, ...figures } = await runInterleavings(place, rounds(30))
      expect(faults).toEqual([])
      for (const [what, count] of Object.entries(figures)) expect(count, `none: ${what}`).toBeGreaterThan(0)
    },
  )
})
