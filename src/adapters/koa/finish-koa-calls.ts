import { errorText, hideSessionId } from '../../ground/error-text.ts'
import { type Logger, warn } from '../../ground/logger.ts'
import { visitOf } from '../../guard/request/host-visit.ts'
import type { KoaApplication, KoaSessionContext } from './koa-types.ts'

type Method = (...given: unknown[]) => unknown

/** What koa-session holds for a context. Every write of the session passes through its `commit`. */
interface ContextSession {
  commit: Method
}

const FAILED =
  'ctx.logout() or a write of ctx.session failed, but its request succeeded. Await such calls, and pass their errors on.'

/** What koa-passport assigns to each context, under two names. */
const LOGOUTS = ['logout', 'logOut']

/** The calls of one request that have to finish before its response, because they set cookies. */
export class KeptCalls {
  readonly #visit: { readonly sessionID: string }
  readonly #calls: Promise<unknown>[] = []
  readonly #failures = new Set<string>()

  constructor(visit: { readonly sessionID: string }) {
    this.#visit = visit
  }

  /** Adds a call that the application may not await, and returns it. Its failure must not end the process. */
  keep(call: unknown): unknown {
    if (!(call instanceof Promise)) return call
    const { sessionID } = this.#visit
    const noteFailure = (error: unknown) =>
      this.#failures.add(hideSessionId(errorText(error, sessionID), this.#visit.sessionID))
    this.#calls.push(call.catch(noteFailure))
    return call
  }

  /** Waits for the calls, and for those that they start. */
  async settle(): Promise<void> {
    while (this.#calls.length > 0) await Promise.all(this.#calls.splice(0))
  }

  /** Logs the calls that have failed. */
  logFailures(logger: Logger): void {
    for (const error of this.#failures) warn(logger, 'a-store-call-failed', FAILED, { error })
  }
}

/** A request that keeps calls. */
interface KeepingVisit {
  readonly calls: KeptCalls
}

/**
 * Returns what koa-session holds for a context, or undefined before the first use of `ctx.session`. Reading
 * `ctx.session` to find out would create a session that is never saved.
 */
export function contextSessionOf(context: object): object | undefined {
  const key = Object.getOwnPropertySymbols(context).find(({ description = '' }) => /contextSession/i.test(description))
  return key && (context as { [key]?: object })[key]
}

/**
 * Makes the writes of `ctx.session` finish before the response, even if the application does not await them. Koa would
 * otherwise respond first, and the cookie that follows would end the process.
 */
export function keepWrites({ context, calls }: KeepingVisit & { readonly context: object }): void {
  const session = contextSessionOf(context) as ContextSession | undefined
  if (typeof session?.commit !== 'function') return
  const { commit } = session
  session.commit = (...given) => calls.keep(commit.apply(session, given))
}

/**
 * Makes `ctx.logout()` finish before the response as well.
 *
 * koa-passport assigns it to every context, before or after sessmgr, so accessors of the application watch for it. They
 * keep a logout that the application itself adds to `app.context`.
 */
export function keepLogouts({ context: shared }: KoaApplication): void {
  for (const name of LOGOUTS) {
    const own = Object.getOwnPropertyDescriptor(shared, name)
    if (own && (!own.configurable || !('value' in own))) continue
    let inherited = (shared as { [name]?: unknown })[name]
    Object.defineProperty(shared, name, {
      configurable: true,
      enumerable: own?.enumerable ?? true,
      get(this: KoaSessionContext) {
        return this === shared || typeof inherited !== 'function' ? inherited : define(this, name, inherited)
      },
      set(this: KoaSessionContext, value: unknown) {
        if (this === shared) inherited = value
        else define(this, name, value)
      },
    })
  }
}

/** Defines a property of one context, whose calls are kept until the response. */
function define(context: KoaSessionContext, name: string, given: unknown): unknown {
  const value = typeof given === 'function' ? kept(context, given as Method) : given
  Object.defineProperty(context, name, { value, configurable: true, writable: true, enumerable: true })
  return value
}

function kept(context: KoaSessionContext, call: Method): Method {
  return function (this: unknown, ...given) {
    const outcome = call.apply(this, given)
    const visit = visitOf(context.req) as KeepingVisit | undefined
    return visit ? visit.calls.keep(outcome) : outcome
  }
}
