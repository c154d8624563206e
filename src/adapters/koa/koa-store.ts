import type { HostSessionData } from '../../door/host-types.ts'
import { type Inspected, type Loaded, loadSession, type ReadSession } from '../../door/load.ts'
import { type SessionPort, StoreHealth } from '../../door/port.ts'
import type { AdapterVisit } from '../../door/request/adapter-visit.ts'
import { visitOf } from '../../door/request/visit.ts'
import { guardedBy, type SessionGuard } from '../../door/session-guard.ts'
import { PAIR_KEY } from '../../door/sessions/pair.ts'
import { isMissing, promised, sessionCall, sessionReads } from '../../door/stores/store-calls.ts'
import { isStoreError } from '../../door/stores/store-error.ts'
import type { WatchedReader } from '../read-sessions.ts'
import type { KoaContext, KoaStore, KoaStoreOptions } from './koa-types.ts'

/** The key of a session that was loaded, and the result of its check. */
export interface KoaLoad extends Inspected {
  readonly key: string
}

/** A request whose session this store writes. */
interface WritingVisit extends AdapterVisit {
  /** What koa-session wrote last during a login. */
  written: HostSessionData | undefined
}

/** A guarded koa-session store. */
export interface KoaGuardedStore {
  readonly guard: SessionGuard
  /** Returns the result of checking a request's session, or undefined if the request had no session. */
  loadOf(context: KoaContext): KoaLoad | undefined
}

/** The calls to a koa-session store, whose methods have parameters besides the key and the data. */
interface KoaCalls extends SessionPort {
  readWith(maxAge: unknown, options: KoaStoreOptions, ...how: Parameters<ReadSession>): void
}

/** Key under which a context keeps the result of checking its session. */
const LOAD = Symbol('sessmgr.load')

type LoadedContext = KoaContext & { [LOAD]?: KoaLoad }

/** Key under which session data carries koa-session's other arguments while the guard writes it. */
const WRITING = Symbol('sessmgr.writing')

class Writing {
  readonly maxAge: unknown
  readonly options: KoaStoreOptions

  constructor(maxAge: unknown, options: KoaStoreOptions) {
    this.maxAge = maxAge
    this.options = options
  }
}

/** Returns a koa-session store with its guard, which is installed if needed. */
export const guardKoaStore = guardedBy(koaCalls, putUpGuard)

function koaCalls(store: KoaStore, deadlineMs: number): KoaCalls {
  const { get, set, destroy } = store
  const health = new StoreHealth()
  const run = sessionCall(health)
  const read = sessionReads(deadlineMs, health)
  const calls: KoaCalls = {
    health,
    read: (key, call, from) => calls.readWith(undefined, {}, key, call, from),
    readWith(maxAge, options, key, call, from) {
      const own = () => get.call(store, key, maxAge, options)
      read(call, from ? () => (from as WatchedReader).get(key) : own, from)
    },
    get: (key, request) => promised((call) => calls.readWith(undefined, optionsFor(request), key, call)),
    set(key, data, request) {
      const writing = (data as { [WRITING]?: Writing })[WRITING] ?? new Writing(data._maxAge, optionsFor(request))
      const { maxAge, options } = writing
      return run(async () => void (await set.call(store, key, data, maxAge, options)))
    },
    async destroy(key, request) {
      try {
        await run(() => destroy.call(store, key, optionsFor(request)))
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    },
  }
  return calls
}

/** The options that a store receives for a request. */
class RequestOptions implements KoaStoreOptions {
  readonly ctx: KoaContext
  readonly [option: string]: unknown

  constructor(ctx: KoaContext) {
    this.ctx = ctx
  }
}

/**
 * Returns the options that a store receives for a visit, or for options from koa-session. Without either, the options
 * are empty: a session that is ended from elsewhere belongs to no request.
 */
function optionsFor(request: object = {}): KoaStoreOptions {
  const { context, ctx = context } = request as { context?: KoaContext; ctx?: KoaContext }
  return ctx ? new RequestOptions(ctx) : {}
}

function putUpGuard(store: KoaStore, guard: SessionGuard): KoaGuardedStore {
  store.get = (key, maxAge, options = {}) =>
    new Promise((resolve, reject) => {
      const { ctx } = options as { ctx?: LoadedContext }
      const done: Loaded = (error, found = {}) => {
        if (error) return reject(error)
        if (ctx) ctx[LOAD] = { key, ...found }
        if (!found.session || found.needsPair) return resolve(found.data)
        const { [PAIR_KEY]: _, ...data } = found.data ?? {}
        resolve(data)
      }
      const { readWith } = guard.calls as KoaCalls
      loadSession(guard, key, readWith.bind(undefined, maxAge, options), done, options)
    })
  store.set = async (key, data, maxAge, options = {}) => {
    const visit = visitOf(options.ctx?.req) as WritingVisit | undefined
    const load = (options.ctx as LoadedContext | undefined)?.[LOAD]
    const loaded = load?.key === key ? load.data?.[PAIR_KEY] : undefined
    // koa-session passes a copy of the session, without its pair.
    const pair = data[PAIR_KEY] ?? (visit ? visit.session?.[PAIR_KEY] : loaded)
    if (pair !== undefined) data[PAIR_KEY] = pair
    const isChanged = options.changed === false && pair !== loaded
    const writing = new Writing(maxAge, isChanged ? { ...options, changed: true } : options)
    Object.defineProperty(data, WRITING, { value: writing, configurable: true })
    if (visit) Object.assign(visit, { sessionID: key, wrote: true })
    if (visit) visit.written = visit.login ? data : undefined
    await unlessSent(key, options, guard.save(key, data, visit))
    const { session } = visit ?? {}
    if (session && data[PAIR_KEY] !== pair) hidePair(session, data[PAIR_KEY])
  }
  store.destroy = async (key, options = {}) => {
    const visit = visitOf(options.ctx?.req) as WritingVisit | undefined
    // The session that a login replaces stays in its store and keeps its slot until the login is admitted.
    if (visit?.login) return
    await unlessSent(key, options, guard.destroy(key, visit))
  }

  /** Once the headers are sent, logs a failure instead of throwing it, because Koa would never end the response. */
  async function unlessSent(key: string, { ctx }: KoaStoreOptions, outcome: Promise<void>): Promise<void> {
    try {
      await outcome
    } catch (error) {
      if (!ctx?.res.headersSent || !isStoreError(error)) throw error
      guard.logUnsaved(key, error)
    }
  }

  return { guard, loadOf: (context) => (context as LoadedContext)[LOAD] }
}

/** Sets the pair of a session, which koa-session neither passes on nor shows to the application. */
export function hidePair(session: HostSessionData, pair: unknown): void {
  Object.defineProperty(session, PAIR_KEY, { value: pair, enumerable: false, configurable: true, writable: true })
}
