import { SessmgrError } from '../../ground/errors.ts'
import type { HostSessionData, HostStore } from '../../guard/host-types.ts'
import type { Inspected } from '../../guard/inspected.ts'
import { storeHandle, visitOf } from '../../guard/request/visit.ts'
import type { GuardedStore } from '../../guard/session-guards.ts'
import { isMissing } from '../../guard/stores/is-missing.ts'
import { sessionCall } from '../../guard/stores/session-call.ts'
import type { StoreCalls } from '../../guard/stores/store-calls.ts'
import type { ServiceCore } from '../../service/service-core.ts'
import type { KoaContext, KoaStore, KoaStoreOptions } from './koa-types.ts'
import type { KoaVisit } from './koa-visit.ts'

/** A session that was asked for, and what it turned out to be. */
export interface KoaLoad extends Inspected {
  readonly key: string
}

/** A store of koa-session behind the guard. */
export interface KoaGuardedStore extends GuardedStore {
  readonly handle: HostStore
  /** What the guard found out when the session of a request was loaded; undefined when the request came with none. */
  loadOf(context: KoaContext): KoaLoad | undefined
}

/** What koa-session gives a store beside key and data. */
type Rest = readonly [maxAge: unknown, options: KoaStoreOptions]

const known = new WeakMap<GuardedStore, KoaGuardedStore>()

/** Finds the guard of a store, putting one up if need be: in place, because koa-session holds the very object. */
export function guardKoaStore({ guards }: ServiceCore, store: KoaStore): KoaGuardedStore {
  const rest: RestOfCalls = { reading: undefined, writing: new WeakMap() }
  const behind = guards.of(store, (_, deadlineMs) => koaCalls(store, rest, deadlineMs))
  const guarded = known.get(behind) ?? putUpGuard(store, behind, rest)
  known.set(behind, guarded)
  return guarded
}

/** Carries what koa-session says beside key and data past the guard, which calls the store in the same breath. */
interface RestOfCalls {
  reading: Rest | undefined
  readonly writing: WeakMap<HostSessionData, Rest>
}

function koaCalls(store: KoaStore, rest: RestOfCalls, deadlineMs: number): StoreCalls {
  const { get, set, destroy } = store
  const run = sessionCall(deadlineMs)
  const ifThere = <T>(key: string, call: () => Promise<T>) =>
    run(key, () => call().catch((error) => (isMissing(error) ? undefined : Promise.reject(error))))
  return {
    get(key) {
      const [maxAge, options] = rest.reading ?? [undefined, {}]
      return ifThere(key, async () => (await get.call(store, key, maxAge, options)) ?? undefined)
    },
    set(key, data) {
      const [maxAge, options] = rest.writing.get(data) ?? [data._maxAge, {}]
      return run(key, async () => void (await set.call(store, key, data, maxAge, options)))
    },
    destroy: (key) => ifThere(key, async () => void (await destroy.call(store, key, {}))),
    // koa-session knows no way to say that a session is in use.
    touch: () => Promise.resolve(),
  }
}

function putUpGuard(store: KoaStore, { calls, guard }: GuardedStore, rest: RestOfCalls): KoaGuardedStore {
  const handle = storeHandle()
  const loads = new WeakMap<KoaContext, KoaLoad>()

  store.get = async (key, maxAge, options = {}) => {
    const { ctx } = options
    if (ctx && visitOf(ctx.req)) throw tooEarly()
    rest.reading = [maxAge, options]
    const loading = guard.load(key)
    rest.reading = undefined
    const result = await loading
    if (ctx) loads.set(ctx, { key, ...result })
    return result.data
  }
  store.set = async (key, data, maxAge, options = {}) => {
    const visit = visitIn(options)
    rest.writing.set(data, [maxAge, options])
    if (visit) Object.assign(visit, { sessionId: key, wrote: true })
    if (visit?.isQuiet) return
    if (visit) visit.written = guard.logins.of(visit.view) ? data : undefined
    await guard.save(key, data, visit?.view)
    // What is written is a copy of the session; one that has been admitted here must know of it.
    const marker = guard.markerOf(key, data)
    if (marker && visit?.session) guard.mark(key, visit.session, marker)
  }
  store.destroy = async (key, options = {}) => {
    const visit = visitIn(options)
    // The session that a login leaves stays in its store and its slot until the login has been admitted.
    if (visit && guard.logins.of(visit.view)) return
    await guard.destroy(key, visit?.view)
  }

  return { calls, guard, handle, loadOf: (context) => loads.get(context) }
}

function visitIn({ ctx }: KoaStoreOptions): KoaVisit | undefined {
  return ctx && (visitOf(ctx.req) as KoaVisit | undefined)
}

function tooEarly(): SessmgrError {
  const advice = 'Move app.use(koaSessmgr(…)) behind app.use(session(…)).'
  return new SessmgrError('session_middleware_missing', `sessmgr stands before koa-session. ${advice}`)
}
