import type { HostRequest, HostResponse, HostSession, HostSessionData, RequestState } from '../door/host-types.ts'
import { OWN_REQUEST, shownStateOf, VISIT, Visit, type Visited, visitOf } from '../door/request/visit.ts'
import { type Logger, warn } from '../ground/logger.ts'

type Done = (error?: unknown) => void

/** A request in Express. */
class ExpressVisit extends Visit {
  readonly raw: HostRequest
  /** The value of `req.sessmgr`. */
  sessmgr: RequestState | undefined = undefined

  constructor(raw: HostRequest) {
    super()
    this.raw = raw
  }

  get session(): HostSession | undefined {
    return this.raw.session
  }

  get sessionID(): string | undefined {
    return this.raw.sessionID
  }

  get ip(): string | undefined {
    return this.raw.ip
  }

  get passportLogin(): ((user: unknown) => Promise<void>) | undefined {
    const { raw } = this
    const { logIn } = raw
    if (typeof logIn !== 'function') return undefined
    return (user) =>
      new Promise((resolve, reject) => {
        logIn.call(raw, user, (error: unknown) => (error ? reject(error) : resolve()))
      })
  }

  renew(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.session?.regenerate((error) => (error ? reject(error) : resolve()))
    })
  }

  async restore(sessionId: string, data: HostSessionData | null): Promise<void> {
    const { raw } = this
    // Set first, even if the store fails, because the id of the refused session must not reach the browser.
    raw.sessionID = sessionId
    if (data) raw.sessionStore?.createSession(raw, data)
  }

  /** Wraps the session's `destroy`, so that the store knows which request called it. */
  override attend(session: HostSessionData): void {
    if (Object.hasOwn(session, 'destroy') || typeof session.destroy !== 'function') return
    Object.defineProperty(session, 'destroy', DESTROY)
  }
}

/** The request that is giving up its session. Kept here, because the store's `destroy` does not receive it. */
let leaving: Visit | undefined

/** Runs code that destroys the session of a request. The code must call the store synchronously. */
export function whileLeaving<T>(visit: Visit | undefined, run: () => T): T {
  leaving = visit
  try {
    return run()
  } finally {
    leaving = undefined
  }
}

/** Returns the request that is giving up its session. Undefined outside `whileLeaving`. */
export function leavingVisit(): Visit | undefined {
  return leaving
}

/** The request whose response is ending. express-session then calls its store, and does not always name the request. */
let ending: Visit | undefined

/** Ends the response of a request. express-session saves, touches or destroys its session meanwhile. */
export function endResponse(visit: Visit, end: HostResponse['end'], given: unknown[]): HostResponse {
  ending = visit
  try {
    return Reflect.apply(end, visit.response, given)
  } finally {
    ending = undefined
  }
}

/** Returns the request whose response is ending. Undefined outside `endResponse`. */
export function endingVisit(): Visit | undefined {
  return ending
}

/** The property descriptor for the `destroy` of a session, shared by all requests. */
const DESTROY: PropertyDescriptor = {
  configurable: true,
  writable: true,
  value(this: HostSession & { req: HostRequest }, callback?: Done) {
    return whileLeaving(visitOf(this.req), () => Object.getPrototypeOf(this).destroy.call(this, callback))
  },
}

/**
 * Defines `req.sessmgr`. The value is in the visit, because another property on the request would slow down most
 * Express requests.
 */
const SESSMGR: PropertyDescriptor & ThisType<HostRequest & Visited> = {
  configurable: true,
  enumerable: true,
  get() {
    return shownStateOf(this[VISIT])
  },
  set(state: RequestState | undefined) {
    const visit = this[VISIT] ?? bareVisit(this)
    visit.sessmgr = state
  },
}

/**
 * Whether V8 creates a new shape for each property that is added to an Express request, which it does before Node 24.
 */
const SHAPES_ARE_SPENT = Number.parseInt(process.versions.node, 10) < 24

/** Begins the visit of an Express request that no guard has seen. */
export function beginVisit(request: HostRequest): Visit {
  // An own property from other middleware would hide the accessor.
  if (Object.hasOwn(request, 'sessmgr')) Reflect.deleteProperty(request, 'sessmgr')
  // Usually inherited, because the first request has prepared the shared prototype.
  if (!('sessmgr' in request)) Object.defineProperty(sharedPrototype(request) ?? request, 'sessmgr', SESSMGR)
  const holder = request as HostRequest & Visited
  const visit = new ExpressVisit(request)
  holder[VISIT] = visit
  if (!SHAPES_ARE_SPENT || Object.hasOwn(request, 'sessmgr')) return visit
  // Deleting a property turns the object into a dictionary, whose shape all requests share: docs/decisions/0015.
  delete holder[VISIT]
  holder[VISIT] = visit
  return visit
}

/** Attaches a visit to a request, without `req.sessmgr`. */
export function bareVisit(request: HostRequest): Visit {
  const visit = new ExpressVisit(request)
  visit.standFor(request)
  return visit
}

/** Returns the visit of a request that may log in, in any framework. */
export function visitFor(request: object): Visit {
  return visitOf(request) ?? beginVisit(request as HostRequest)
}

/**
 * Returns the last prototype before Node's own. In sub-applications, Express replaces a request's first prototype, but
 * not this one. Returns undefined without Express, and for requests that are not HTTP/1, because Node's own prototypes
 * must not be changed.
 */
export function sharedPrototype(request: object): object | undefined {
  // An import would delay every start.
  const ofNode = process.getBuiltinModule('node:http').IncomingMessage.prototype
  let found: object | undefined
  let next: object | null = Object.getPrototypeOf(request)
  while (next !== null && next !== ofNode) {
    found = next
    next = Object.getPrototypeOf(next)
  }
  return next === null ? undefined : found
}

/**
 * Returns a check that warns once when requests reach `part` before the limiter.
 *
 * With explicit calls, it never warns, because requests without a session look the same as requests
 * that have not reached the limiter.
 *
 * @param part The middleware that is mounted too early, as the application writes it.
 */
export function orderWarning(part: string, logger: Logger) {
  return (request: Pick<HostRequest, 'headers'> & { readonly app?: unknown }): void => {
    const isExpress = typeof request.app === 'function'
    if (request.headers.cookie === undefined || !(isExpress || OWN_REQUEST in request)) return
    if (visitOf(request)?.passed) return
    const problem = `sessmgr is not mounted before ${part}, so every user appears signed out there.`
    const cure = isExpress
      ? `Call app.use(limiter) first. If the limiter is mounted under a path, mount ${part} there as well.`
      : 'Register fastifySessmgr, or use koaSessmgr, before the routes and for the same paths.'
    warn(logger, 'routes-before-sessmgr', `${problem} ${cure}`)
  }
}
