import type {} from 'koa'
import { SessmgrError } from '../../ground/errors.ts'
import type { RequestState } from '../../guard/host-types.ts'
import { carryMarker } from '../../guard/marker-place.ts'
import type { Notices } from '../../guard/notice/notices.ts'
import { visitOf } from '../../guard/request/host-visit.ts'
import { goOnWith } from '../../guard/request/loaded-session.ts'
import { warnIfTooEarly } from '../../guard/request/too-early.ts'
import type { Sessmgr } from '../../service/service.ts'
import { coreOf } from '../../service/service-core.ts'
import { clearSessionCookie } from './clear-session-cookie.ts'
import { contextSessionOf, keepLogouts, keepWrites } from './finish-koa-calls.ts'
import { keepSessionCookie } from './keep-session-cookie.ts'
import { limitKoaLogins } from './koa-login.ts'
import { guardKoaStore, type KoaGuardedStore } from './koa-store.ts'
import type { KoaApplication, KoaMiddleware, KoaSessionContext, KoaStore } from './koa-types.ts'
import { KoaVisit } from './koa-visit.ts'

declare module 'koa' {
  interface ExtendableContext {
    /** State of the session of this request. */
    readonly sessmgr: RequestState
  }
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
export function koaSessmgr(limiter: Sessmgr, app: KoaApplication): KoaMiddleware {
  const core = coreOf(limiter, 'app.use(koaSessmgr(limiter, app))')
  const store = guardKoaStore(core.guards, requireStore(app))
  void core.notices.load()
  keepLogouts(app)
  Object.defineProperty(app.context, 'sessmgr', {
    configurable: true,
    get(this: KoaSessionContext): RequestState {
      return visitOf(this.req)?.sessmgr ?? {}
    },
  })

  return async function sessmgr(anyContext, next) {
    const context = anyContext as KoaSessionContext
    if (visitOf(context.req)) return void (await next())
    const visit = await arrive(store, context, core.notices)
    if (visit.isTooEarly) context.res.once('finish', () => warnIfTooEarly(visit, core.options.logger))
    limitKoaLogins(visit, core.limitLogin)
    core.resumeDevice?.(visit)
    keepSessionCookie(visit)
    try {
      await next()
    } catch (error) {
      await visit.calls.settle()
      // If the application has failed, its error takes precedence over an error of the store.
      await visit.storeMarker().catch(() => {})
      throw error
    }
    await visit.calls.settle()
    visit.calls.logFailures(core.options.logger)
    await visit.storeMarker()
    await new Promise<void>((done) => visit.noteUse(done))
  }
}

async function arrive(store: KoaGuardedStore, context: KoaSessionContext, notices: Notices): Promise<KoaVisit> {
  const load = store.loadOf(context)
  const isTooEarly = !load && !contextSessionOf(context)
  const visit = new KoaVisit(store, context)
  visit.isTooEarly = isTooEarly
  keepWrites(visit)
  if (!load) visit.begunId = visit.sessionID
  if (!load) return visit
  visit.isStored = load.key === visit.sessionID
  if (!visit.isStored) {
    // koa-session has rejected the session because of its expiry or the option `valid`, so free its slot.
    if (load.session) await store.guard.destroy(load.key, visit)
    const ended = load.ended ?? { reason: 'missing' }
    visit.sessmgr = { ended }
    clearSessionCookie(visit, await notices.keep(visit, ended, context.res))
  } else if (load.session) {
    visit.origin = load.session
    if (load.data && visit.session) carryMarker(load.data, visit.session)
    goOnWith(store, visit, load.session, load.needsMarker)
    if (load.needsMarker) await visit.storeMarker(load.data)
  }
  return visit
}

/** Returns the koa-session store, using a context without a request. */
function requireStore(app: KoaApplication): KoaStore {
  const options = (Object.create(app?.context ?? null) as Partial<KoaSessionContext>).sessionOptions
  if (!options) {
    throw new SessmgrError(
      'session_middleware_missing',
      'There are no sessions in this application. Add koa-session before sessmgr, and pass the application to sessmgr: ' +
        'app.use(session({ store }, app)); app.use(koaSessmgr(limiter, app)).',
    )
  }
  if (options.store && !options.ContextStore) return options.store
  throw new SessmgrError(
    'session_middleware_unsupported',
    'This application has no session store, or a new one for each request: without the option "store", koa-session keeps ' +
      'them in cookies. A limit needs sessions that the server can end: app.use(session({ store }, app)).',
  )
}
