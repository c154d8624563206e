import { SessmgrError } from '../../ground/errors.ts'
import type { HostSessionData } from '../../guard/host-types.ts'
import type { Inspected } from '../../guard/inspect-session.ts'
import { visitOf } from '../../guard/request/host-visit.ts'
import { type Visit, visitExchange } from '../../guard/request/visit.ts'
import type { HostedStore } from '../../guard/session-exchange.ts'
import type { SessionGuard } from '../../guard/session-guard.ts'
import { guardedBy } from '../../guard/session-guards.ts'
import { MARKER_KEY } from '../../guard/session-marks.ts'
import { isMissing, sessionCall } from '../../guard/stores/session-call.ts'
import type { StoreCalls } from '../../guard/stores/store-calls.ts'
import type { KoaContext, KoaStore, KoaStoreOptions } from './koa-types.ts'

/** The key of a session that was loaded, and the result of its check. */
export interface KoaLoad extends Inspected {
  readonly key: string
}

/** A request whose session this store writes. */
interface WritingVisit extends Visit {
  /** Whether to drop what koa-session writes. */
  readonly isQuiet: boolean
  /** What koa-session wrote last during a login. */
  written: HostSessionData | undefined
}

/** A guarded koa-session store. */
export interface KoaGuardedStore extends HostedStore {
  /** Returns the check of a request's session, or undefined if the request came without one. */
  loadOf(context: KoaContext): KoaLoad | undefined
}

/** The calls to a koa-session store, whose methods have more parameters than key and data. */
interface KoaCalls extends StoreCalls {
  get(key: string, maxAge?: unknown, options?: KoaStoreOptions): Promise<HostSessionData | undefined>
}

/** Key under which a context holds the check of its session until the request passes sessmgr. */
const LOAD = Symbol('sessmgr.load')

type LoadedContext = KoaContext & { [LOAD]?: KoaLoad }

/** Key under which the data holds koa-session's other arguments while the guard writes it. */
const WRITING = Symbol('sessmgr.writing')

class Writing {
  readonly maxAge: unknown
  readonly options: KoaStoreOptions

  constructor(maxAge: unknown, options: KoaStoreOptions) {
    this.maxAge = maxAge
    this.options = options
  }
}

/** Returns the guarded store of a koa-session store. */
export const guardKoaStore = guardedBy(koaCalls, putUpGuard)

function koaCalls(store: KoaStore, deadlineMs: number): KoaCalls {
  const { get, set, destroy } = store
  const run = sessionCall(deadlineMs)
  const ifThere = <T>(key: string, call: () => Promise<T>) =>
    run(key, () => call().catch((error) => (isMissing(error) ? undefined : Promise.reject(error))))
  const read: KoaCalls['get'] = (key, maxAge, options = {}) =>
    ifThere(key, async () => (await get.call(store, key, maxAge, options)) ?? undefined)
  return {
    read: (key, call) => void read(key).then(call.answer.bind(call), call.fail.bind(call)),
    get: read,
    set(key, data) {
      const { maxAge, options } = (data as { [WRITING]?: Writing })[WRITING] ?? new Writing(data._maxAge, {})
      return run(key, async () => void (await set.call(store, key, data, maxAge, options)))
    },
    destroy: (key) => ifThere(key, async () => void (await destroy.call(store, key, {}))),
  }
}

function putUpGuard(store: KoaStore, guard: SessionGuard): KoaGuardedStore {
  store.get = async (key, maxAge, options = {}) => {
    const { ctx } = options
    if (visitOf(ctx?.req)) throw tooEarly()
    const result = await guard.load(key, (call) => {
      const { get } = guard.calls as KoaCalls
      get(key, maxAge, options).then(call.answer.bind(call), call.fail.bind(call))
    })
    if (ctx) (ctx as LoadedContext)[LOAD] = { key, ...result }
    return result.data
  }
  store.set = async (key, data, maxAge, options = {}) => {
    const visit = visitOf(options.ctx?.req) as WritingVisit | undefined
    Object.defineProperty(data, WRITING, { value: new Writing(maxAge, options), configurable: true })
    if (visit) Object.assign(visit, { sessionID: key, wrote: true })
    if (visit?.isQuiet) return
    if (visit) visit.written = visit.login ? data : undefined
    const { [MARKER_KEY]: before } = data
    await guard.save(key, data, visit)
    const { [MARKER_KEY]: marker } = data
    // The written data is a copy of the session, so the session must also get the new marker.
    if (marker !== before && visit?.session) visit.session[MARKER_KEY] = marker
  }
  store.destroy = async (key, options = {}) => {
    const visit = visitOf(options.ctx?.req) as WritingVisit | undefined
    // The session that a login replaces stays in its store and keeps its slot until the login is admitted.
    if (visit?.login) return
    await guard.destroy(key, visit)
  }

  return { ...visitExchange, guard, loadOf: (context) => (context as LoadedContext)[LOAD] }
}

function tooEarly(): SessmgrError {
  const advice = 'Move app.use(koaSessmgr(…)) behind app.use(session(…)).'
  return new SessmgrError('session_middleware_missing', `sessmgr is mounted before koa-session. ${advice}`)
}
