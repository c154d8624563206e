import { documentStore } from '../../../src/document.ts'
import { type ExplicitCalls, explicitCalls } from '../../../src/explicit.ts'
import { type AuditEvent, memoryStore, type Sessmgr, type SessmgrStore, sessmgr, tokenOf } from '../../../src/index.ts'
import { type TokenClaims, type TokenSessions, tokenSessions } from '../../../src/jwt.ts'
import { type LiveConnections, liveConnections } from '../../../src/live.ts'
import { MemoryRows } from '../../support/memory-driver.ts'
import type { BrowserName, Setup, User } from '../histories/commands.ts'
import { USERS } from '../histories/commands.ts'
import { ADDON_MODES, addFilters } from './filters.ts'
import { fieldsInWords, Listener } from './told.ts'

/** A session that a browser has. */
export interface Held {
  readonly user: User
  readonly sessionId: string
  readonly name: string
  /** The claims of its refresh tokens, the current one last. */
  readonly claims: TokenClaims[]
}

/** What a browser has: its session, the one before, its cookies, and the secret of a login that waits for a choice. */
export interface Browser {
  held?: Held | undefined
  before?: Held | undefined
  cookies: string
  /** What the last request has found. */
  state?: Awaited<ReturnType<ExplicitCalls['check']>> | undefined
  secret?: string | undefined
  taken?: Awaited<ReturnType<ExplicitCalls['pending']['take']>>
}

/** A process of the application. */
export interface Process {
  readonly service: Sessmgr
  readonly calls: ExplicitCalls
  readonly tokens: TokenSessions | undefined
  readonly live: LiveConnections | undefined
}

const MAXIMUM_OF: Readonly<Record<string, number>> = { ann: 1, '7': 2 }
const NETWORKS = { networkA: 1, networkB: 2 }

/** An application with sessmgr, on a clock of its own: the sessions it stores, its browsers, and one or two processes. */
export class World {
  readonly setup: Setup
  readonly listener = new Listener()
  /** The application's session store. */
  readonly stored = new Map<string, { readonly userId: string | number }>()
  /** Sessions that the application's store cannot delete. */
  readonly stuck = new Set<string>()
  readonly nameOfId = new Map<string, string>()
  readonly browsers = new Map<BrowserName, Browser>()
  readonly activity: AuditEvent[] = []
  processes: readonly Process[] = []
  readonly #open: OpenStore
  #store: SessmgrStore
  /** Whether questions to filters are those of the oracle itself. */
  isListing = false

  constructor(setup: Setup, open: OpenStore = openStore) {
    this.setup = setup
    this.#open = open
    this.#store = open(setup)
    if (setup.channels) this.listener.tune()
    this.start()
  }

  browser(name: BrowserName): Browser {
    const known = this.browsers.get(name) ?? { cookies: '' }
    this.browsers.set(name, known)
    return known
  }

  process(number: 0 | 1): Process {
    return (this.processes[number] ?? this.processes[0]) as Process
  }

  /** Starts the processes, again if there were some. */
  start(): void {
    this.processes = Array.from({ length: this.setup.processes }, () => this.#startOne())
  }

  /** Stops all processes, and starts others. With an empty store, sessmgr has forgotten everything. */
  async restart(isEmpty: boolean): Promise<void> {
    await Promise.all(this.processes.map(({ live }) => live?.close()))
    this.listener.heard.connections.length = 0
    if (isEmpty) this.#store = this.#open(this.setup)
    this.start()
  }

  async close(): Promise<readonly string[]> {
    this.listener.leave()
    await Promise.all(this.processes.map(({ live }) => live?.close()))
    for (const { service } of this.processes) await service.close()
    return this.activity.map((event) => this.listener.named(activityInWords(event)))
  }

  /** Returns the live sessions of each user in words. */
  async live(users: readonly User[]): Promise<readonly string[]> {
    const { service } = this.process(0)
    this.isListing = true
    const lists = await Promise.all(
      users.map(async (user) => {
        const sessions = await service.sessions.list(USERS[user]).catch(() => [{ token: 'unknown' }])
        return sessions.length === 0 ? [] : [`${user}: ${sessions.map(({ token }) => token).join(' ')}`]
      }),
    )
    this.isListing = false
    return lists.flat()
  }

  /** Creates a session in the application's store, and returns its raw id. */
  create(name: string, user: User): string {
    const sessionId = this.idOf(name)
    this.nameOfId.set(sessionId, name)
    this.listener.name(tokenOf(sessionId), name)
    this.listener.heard.sessions.push(`create ${name}`)
    this.stored.set(sessionId, { userId: USERS[user] })
    return sessionId
  }

  /** Returns the raw id of the session of this name. */
  idOf(name: string): string {
    return `raw id of ${name}`
  }

  /** Puts a session into a browser. */
  enter(browser: Browser, held: Held): void {
    if (browser.held) browser.before = browser.held
    browser.held = held
    browser.state = undefined
  }

  /** Returns the tokens that a user chooses to end. */
  async chosen(
    userId: string | number,
    choice: 'oldest' | 'youngest' | 'too few' | 'none',
  ): Promise<readonly string[]> {
    this.isListing = true
    const { service } = this.process(0)
    const live = (await service.sessions.list(userId)).map(({ token }) => token)
    const { need = 0 } = await service.explain(userId).catch(() => ({ need: 0 }))
    this.isListing = false
    if (choice === 'none') return []
    if (choice === 'too few') return live.slice(0, Math.max(0, need - 1))
    return choice === 'oldest' ? live.slice(0, need) : live.toReversed().slice(0, need)
  }

  /** Opens a connection of a session, which closes with it. */
  connect(number: 0 | 1, userId: string | number, token: string): void {
    const { live } = this.process(number)
    live?.track({ userId, token }, ({ code, kind }) => {
      this.listener.heard.connections.push(`${token} ${code} ${kind ?? ''}`.trim())
    })
  }

  #startOne(): Process {
    const { setup, listener } = this
    const labels = {
      none: {},
      'by device': { limits: { desktop: 1, mobile: 2 } },
      'by network': {
        limits: NETWORKS,
        labelOf: ({ ip }: { ip: string | null }) =>
          ip === null ? undefined : ip.startsWith('10.0.0.1') ? 'networkA' : 'networkB',
      },
    }
    const service = sessmgr({
      store: this.#store,
      settings: {
        logic: setup.logic,
        maximum: setup.maximum === 'by user' ? (userId) => MAXIMUM_OF[String(userId)] ?? 3 : setup.maximum,
        idle_release: setup.idleRelease,
        enforce: setup.enforce,
      },
      ...labels[setup.labels],
      ...(setup.device && { device: true }),
      touchEvery: setup.touchEvery,
      endedMemory: setup.endedMemory,
      strategies: ADDON_MODES,
      deadlineMs: 500,
      logger: { warn() {}, error() {} },
      audit: setup.activity === 'none' ? false : { sink: this.#sink(), mode: setup.activity },
    })
    listener.listen(service)
    addFilters(service, setup.filters, (question) => {
      if (!this.isListing) listener.heard.filters.push(question)
    })
    const calls = explicitCalls(service, {
      exists: (id) => this.stored.has(id),
      destroy: (id) => {
        listener.heard.sessions.push(`destroy ${this.nameOfId.get(id) ?? tokenOf(id)}`)
        if (this.stuck.has(id)) throw new Error('The session store does not delete.')
        this.stored.delete(id)
      },
    })
    const live = setup.connections ? liveConnections(service) : undefined
    const onReuse = setup.tokens === 'reuse ends all' ? 'user' : 'session'
    const tokens =
      setup.tokens === 'none'
        ? undefined
        : tokenSessions(service, { sessionMs: 3_600_500, onReuse, ...(live && { live }) })
    return { service, calls, tokens, live }
  }

  #sink() {
    const { activity } = this
    return {
      async write(events: readonly AuditEvent[]) {
        for (const event of events) if (!activity.some(({ id }) => id === event.id)) activity.push(event)
      },
      async forget(user: string | number) {
        const before = activity.length
        const left = activity.filter(({ user: own, actor }) => own !== user && actor !== user)
        activity.splice(0, before, ...left)
        return before - left.length
      },
    }
  }
}

/** Opens the store of a history, empty. Its clock may be ahead. */
export type OpenStore = (setup: Setup) => SessmgrStore

const openStore: OpenStore = ({ storeAhead, store }) => {
  const clock = { now: () => Date.now() + storeAhead }
  return store === 'memory' ? memoryStore({ clock }) : documentStore(new MemoryRows(clock).driver())
}

function activityInWords({ type, user, session, initiator, actor, kind, device, ip, details }: AuditEvent): string {
  const given = { user, session, initiator, actor, kind, device, ip }
  const words = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
  // The time of a site-wide logout is not compared.
  const { epoch: _, ...left } = details ?? {}
  return `${type} ${words.join(' ')} ${fieldsInWords(left)}`.trim()
}
