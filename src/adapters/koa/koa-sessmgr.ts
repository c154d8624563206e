import type { RequestState } from '../../door/host-types.ts'
import { explainEnd, goOnWith } from '../../door/load.ts'
import type { Notices } from '../../door/notice/notices.ts'
import { shownStateOf, visitOf } from '../../door/request/visit.ts'
import { PAIR_KEY } from '../../door/sessions/pair.ts'
import { warnIfTooEarly } from '../../door/warnings.ts'
import { SessmgrError } from '../../ground/errors.ts'
import { invalidOption } from '../../ground/invalid-option.ts'
import { requireOptions } from '../../ground/option-checks.ts'
import type { Sessmgr } from '../../service/service.ts'
import { coreOf } from '../../service/service-core.ts'
import { type ReadingClient, WatchedReader } from '../read-sessions.ts'
import { keepLogouts, limitKoaLogins } from './koa-login.ts'
import { guardKoaStore, hidePair, type KoaGuardedStore } from './koa-store.ts'
import type { ContextSession, KoaApplication, KoaMiddleware, KoaSessionContext, KoaStore } from './koa-types.ts'
import { KoaVisit } from './koa-visit.ts'

declare module 'koa' {
  interface ExtendableContext {
    /** State of this request's session. */
    readonly sessmgr: RequestState
  }
}

/** Options of koaSessmgr(). */
export interface KoaSessmgrOptions {
  /**
   * Reads a session from Redis with `client.get`, and returns the same as `get` of your store. If `redisStore()` uses
   * the same server, a request then usually needs only this read.
   *
   * @example
   * read: async (client, key) => JSON.parse((await client.get(key)) ?? 'null')
   */
  readonly read?: ((client: ReadingClient, key: string) => unknown) | undefined
}

/**
 * Adds the session limit to a Koa application. Use it after koa-session, before or after koa-passport.
 *
 * @throws SessmgrError `session_middleware_missing`, `session_middleware_unsupported` for sessions without a store, or
 * `invalid_option` if another limiter guards the store.
 * @example
 * app.use(session({ store }, app))
 * app.use(koaSessmgr(sessmgr({ settings: { maximum: 2 } }), app))
 * app.use(passport.initialize())
 * app.use(passport.session())
 */
export function koaSessmgr(limiter: Sessmgr, app: KoaApplication, options: KoaSessmgrOptions = {}): KoaMiddleware {
  const core = coreOf(limiter, 'app.use(koaSessmgr(limiter, app))')
  requireOptions('koaSessmgr', options, ['read'])
  const { read } = options
  if (read !== undefined && typeof read !== 'function') throw invalidOption('"read" must be a function')
  const store = guardKoaStore(core.guards, requireStore(app))
  store.guard.readable = read ? new WatchedReader(read) : {}
  void core.notices.load()
  keepLogouts(app)
  Object.defineProperty(app.context, 'sessmgr', {
    configurable: true,
    get(this: KoaSessionContext): RequestState {
      return shownStateOf(visitOf(this.req)) ?? {}
    },
  })

  return async function sessmgr(anyContext, next) {
    const context = anyContext as KoaSessionContext
    if (visitOf(context.req)) return void (await next())
    const visit = await arrive(store, context, core.notices)
    if (visit.isTooEarly) context.res.once('finish', () => warnIfTooEarly(visit, core.options.logger))
    limitKoaLogins(visit, core.limitLogin)
    core.resumeDevice?.(visit)
    try {
      await next()
    } catch (error) {
      await visit.calls.settle()
      throw error
    }
    await visit.calls.settle()
    visit.calls.logFailures(core.options.logger)
    await new Promise<void>((done) => visit.noteUse(done))
  }
}

/** Returns the application's koa-session store, found through a context without a request. */
function requireStore(app: KoaApplication): KoaStore {
  const options = (Object.create(app?.context ?? null) as Partial<KoaSessionContext>).sessionOptions
  if (!options) {
    throw new SessmgrError(
      'session_middleware_missing',
      'This application has no sessions. Add koa-session before sessmgr, and pass the application to sessmgr: ' +
        'app.use(session({ store }, app)); app.use(koaSessmgr(limiter, app)).',
    )
  }
  if (options.store && !options.ContextStore) return options.store
  throw new SessmgrError(
    'session_middleware_unsupported',
    'This application has no session store, or a new one for each request: without "store", koa-session keeps ' +
      'sessions in cookies. A limit needs sessions that the server can end: app.use(session({ store }, app)).',
  )
}

async function arrive(store: KoaGuardedStore, context: KoaSessionContext, notices: Notices): Promise<KoaVisit> {
  const load = store.loadOf(context)
  const held = contextSessionOf(context)
  const isTooEarly = !load && !held
  const visit = new KoaVisit(store, context, held)
  visit.isTooEarly = isTooEarly
  keepWrites(visit)
  if (!load) visit.begunId = visit.sessionID
  if (!load) return visit
  if (load.key !== visit.sessionID) {
    // koa-session has rejected the session because of its expiry or the `valid` option, so free its slot.
    if (load.session) await store.guard.destroy(load.key, visit)
    await explainEnd(store.guard, load.key, visit, notices)
  } else if (load.session) {
    visit.origin = load.session
    if (visit.session && !load.needsPair) hidePair(visit.session, load.data?.[PAIR_KEY])
    goOnWith(store.guard, visit, load.session, load.needsPair)
    if (load.needsPair) await visit.storePair(load.data)
  }
  return visit
}

/**
 * Returns koa-session's own object for a context, or undefined before the first use of `ctx.session`. Reading
 * `ctx.session` to find out would create a session that is never saved.
 */
function contextSessionOf(context: object): ContextSession | undefined {
  const key = Object.getOwnPropertySymbols(context).find(({ description = '' }) => /contextSession/i.test(description))
  return key && (context as { [key]?: ContextSession })[key]
}

/**
 * Delays the response until all writes of `ctx.session` have finished, even if the application does not await them. Koa
 * would otherwise respond first, and the late cookie would crash the process.
 */
function keepWrites({ calls, held }: KoaVisit): void {
  if (typeof held?.commit !== 'function') return
  const { commit } = held
  held.commit = (...given) => calls.keep(commit.apply(held, given))
}
