import type { LoginAttempt } from '../../src/limiter/decision/evaluate-login.ts'
import {
  type Epoch,
  FIRST_EPOCH,
  isCurrent,
  type SessionRecord,
  type StoredSession,
  type Token,
} from '../../src/sessions/session-record.ts'
import type { SessionChange, UserSessions } from '../../src/sessions/session-registry.ts'
import type { SessmgrStore } from '../../src/stores/store.ts'
import { judgeCommit } from './judge-commit.ts'
import { createLimiterWorld, type LimiterWorld, SimpleHost } from './limiter-world.ts'
import { seededRandom } from './seeded-random.ts'

/** The modes in which interleavings run. */
export const MODES = ['allow', 'logout_oldest', 'logout_idlest', 'block', 'ask']
const REFUSING = ['block', 'ask']
const PROCESSES = 4
const ROUNDS = 3
const OPERATIONS = 6
const IDLE_MS = 300_000
const LIFE_MS = 86_400_000
const DEVICES = [undefined, undefined, 'home-12345678901', 'work-12345678901']

/** Where interleavings run. */
export interface InterleavedStore {
  /** Returns the store of a process, which may be opened again after time has passed. */
  open(process: number): SessmgrStore
  /** Moves the store's clock forward. */
  pass(ms: number): unknown
}

/** The result of interleavings. */
export interface InterleavingFigures {
  /** What happened but must not, with the seed of the interleaving. */
  readonly faults: string[]
  commits: number
  refused: number
  asked: number
  /** Number of sessions that users chose and a login ended. */
  chosen: number
  /** Number of sessions that ended because they were unused. */
  idle: number
  used: number
  siteLogouts: number
}

/**
 * Runs logins, choices, ends, uses, idle releases and site-wide logouts of one user after another in random order, in
 * several processes at once, and compares every commit with the sessions that it was based on.
 */
export async function runInterleavings(
  store: InterleavedStore,
  count: number,
  firstSeed = 1,
): Promise<InterleavingFigures> {
  const empty = { faults: [], commits: 0, refused: 0, asked: 0, chosen: 0, idle: 0, used: 0, siteLogouts: 0 }
  const figures: InterleavingFigures = empty
  for (let seed = firstSeed; seed < firstSeed + count; seed++) await new Interleaving(store, seed, figures).run()
  return figures
}

class Interleaving {
  readonly #random: () => number
  readonly #host = new SimpleHost()
  readonly #mode: string
  readonly #maximum: number
  /** Sessions whose use was recorded since time has passed. */
  readonly #used = new Set<Token>()
  readonly #released = new Set<Token>()
  /** Sessions that a user chose to end. */
  readonly #chosen = new Set<Token>()
  #processes: readonly LimiterWorld[] = []
  readonly #user: string

  constructor(
    readonly store: InterleavedStore,
    readonly seed: number,
    readonly figures: InterleavingFigures,
  ) {
    this.#random = seededRandom(seed)
    this.#mode = MODES[seed % MODES.length] as string
    this.#maximum = 1 + this.#below(3)
    this.#user = `user ${seed}`
  }

  async run(): Promise<void> {
    const settings = { logic: this.#mode, maximum: this.#maximum, idle_release: IDLE_MS / 1000 }
    for (let round = 0; round < ROUNDS; round++) {
      this.#used.clear()
      this.#released.clear()
      this.#processes = Array.from({ length: PROCESSES }, (_, process) => {
        const store = this.#watched(this.store.open(process))
        return createLimiterWorld({ store, host: this.#host, settings, touchEveryMs: 0 })
      })
      for (const { limiter } of this.#processes) this.#noteEnds(limiter)
      const operations = Array.from({ length: OPERATIONS }, () => this.#operation())
      await Promise.all(
        operations.map((operation, index) => operation(this.#processes[index % PROCESSES] as LimiterWorld)),
      )
      await this.#expectSound()
      await this.store.pass(this.#below(2) * IDLE_MS + 1000)
    }
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.#below(items.length)]
  }

  /** Draws all random numbers at once, so that they do not depend on the order in which processes continue. */
  #operation(): (process: LimiterWorld) => Promise<unknown> {
    const [chance, share, device] = [this.#random(), this.#random(), this.#pick(DEVICES)]
    const user = this.#user
    const oneOf = async ({ limiter }: LimiterWorld) => {
      const sessions = await limiter.sessions.list(user)
      return sessions[Math.floor(share * sessions.length)]
    }
    if (chance < 0.45) return (process) => this.#login(process, { device })
    if (chance < 0.65) return async (process) => this.#login(process, { ends: await this.#choice(process, share) })
    if (chance < 0.8) return async (process) => this.#use(process, await oneOf(process))
    if (chance < 0.86)
      return async (process) => process.limiter.sessions.end(user, (await oneOf(process))?.token ?? 'none')
    if (chance < 0.9) return async (process) => process.limiter.release(user, (await oneOf(process))?.token ?? 'none')
    if (chance < 0.93) return ({ limiter }) => limiter.sessions.endAll(user)
    if (chance < 0.96) return async (process) => this.#endOthers(process, await oneOf(process))
    return async (process) => this.#logoutAll(process, share < 0.5 ? await oneOf(process) : undefined)
  }

  async #login({ limiter }: LimiterWorld, attempt: Partial<LoginAttempt>): Promise<void> {
    const admission = await limiter.admit({ userId: this.#user, canAsk: true, ...attempt }, async () =>
      this.#host.establish(LIFE_MS),
    )
    if (admission.admitted) return
    this.figures.refused += 1
    if (!admission.choice) return
    this.figures.asked += 1
    const { need, sessions } = admission.choice
    if (sessions.length < need) this.#fault(`asked for ${need} of ${sessions.length} sessions`)
  }

  /** Returns some of the user's sessions, and tokens of no session. */
  async #choice({ limiter }: LimiterWorld, share: number): Promise<Token[]> {
    const tokens = (await limiter.sessions.list(this.#user)).map(({ token }) => token)
    const chosen = [...tokens.slice(0, Math.ceil(share * tokens.length)), 'f'.repeat(64), '']
    for (const token of chosen) this.#chosen.add(token)
    return chosen
  }

  async #use({ limiter }: LimiterWorld, session: SessionRecord | undefined): Promise<void> {
    if (!session || !(await limiter.touch(this.#user, session.token, LIFE_MS))) return
    this.#used.add(session.token)
    this.figures.used += 1
    if (this.#released.has(session.token)) this.#fault('a session was used after it was ended as unused')
  }

  async #endOthers({ limiter }: LimiterWorld, session: SessionRecord | undefined): Promise<void> {
    // Another process may have ended it in the meantime.
    if (session) await limiter.sessions.endOthers(this.#user, session.token).catch(() => {})
  }

  async #logoutAll({ limiter }: LimiterWorld, keep: SessionRecord | undefined): Promise<void> {
    // Another process may have ended it in the meantime.
    await limiter.sessions.logoutAllUsers(keep && { userId: this.#user, token: keep.token }).catch(() => {})
    this.figures.siteLogouts += 1
  }

  #noteEnds({ hooks }: LimiterWorld['limiter']): void {
    const { sessions } = this.store.open(0)
    hooks.addAction('sessmgr_session_ended', 'interleaving', async ({ token }, { kind }) => {
      if (kind === 'chosen') this.figures.chosen += 1
      if (kind === 'displaced' && REFUSING.includes(this.#mode)) this.#fault('a session was displaced')
      const isStored = (await sessions.read(this.#user)).sessions.some(({ record }) => record.token === token)
      if (isStored) this.#fault('an end was told before it was stored')
    })
  }

  async #expectSound(): Promise<void> {
    const live = (await this.#processes[0]?.limiter.sessions.list(this.#user)) ?? []
    if (live.length > this.#maximum) this.#fault(`${live.length} sessions are live`)
  }

  #fault(problem: string): void {
    this.figures.faults.push(`seed ${this.seed}, ${this.#mode}, maximum ${this.#maximum}: ${problem}`)
  }

  /** The same store, whose commits are compared with what they are based on. */
  #watched(store: SessmgrStore): SessmgrStore {
    const epochs = new Map([[0, FIRST_EPOCH]])
    const { sessions, epoch } = store
    const own: Partial<SessmgrStore['sessions']> = {
      commit: async (userId, read, change) => {
        const result = await sessions.commit(userId, read, change)
        const assumed = epochs.get(change.admit.generation)
        if (result.committed && assumed) this.#judge(read, assumed, change, result.ended)
        return result
      },
    }
    const get = (_: object, name: string) => {
      const member = own[name as 'read'] ?? Reflect.get(sessions, name)
      return typeof member === 'function' ? member.bind(sessions) : member
    }
    const current = async () => {
      const read = await epoch.current()
      epochs.set(read.generation, read)
      return read
    }
    const ownEpoch = { current, advance: epoch.advance.bind(epoch) }
    return { ...store, epoch: ownEpoch, sessions: new Proxy(sessions, { get: get as never }) }
  }

  #judge(before: UserSessions, epoch: Epoch, { admit }: SessionChange, ended: readonly StoredSession[]): void {
    this.figures.commits += 1
    const isLive = ({ record }: StoredSession) => isCurrent(epoch, record)
    const tokens = ended.map(({ record }) => record.token)
    const isIdle = ({ record: { token, device, lastSeenAt } }: StoredSession) =>
      REFUSING.includes(this.#mode) &&
      before.now - lastSeenAt >= IDLE_MS &&
      !this.#chosen.has(token) &&
      (device === null || device !== admit.device)
    const idle = ended.filter(isIdle).map(({ record }) => record.token)
    this.figures.idle += idle.length
    for (const token of idle) {
      this.#released.add(token)
      if (this.#used.has(token)) this.#fault('a session was ended as unused after it was used')
    }
    const live = before.sessions.filter(isLive).map(({ record }) => record.token)
    for (const fault of judgeCommit({ live, ended: tokens, idle }, this.#maximum)) this.#fault(fault)
  }
}
