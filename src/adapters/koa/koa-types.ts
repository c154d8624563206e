import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HostSessionData } from '../../door/host-types.ts'

/** A koa-session session. Its `regenerate` keeps the data under another id. */
export interface KoaSession extends HostSessionData {
  /** The id of the session when this object was created. */
  readonly externalKey: string
  /** Whether koa-session writes the session even if it looks unchanged. */
  _requireSave?: boolean
  regenerate(): Promise<void>
}

/** koa-session's own object for a context. Every write of the session passes through its `commit`. */
export interface ContextSession {
  commit?(...given: unknown[]): unknown
  /** The id under which it writes the session. */
  externalKey?: string
}

/** The options that koa-session passes to a store. */
export interface KoaStoreOptions {
  readonly ctx?: KoaContext
  readonly [option: string]: unknown
}

/** A koa-session store. */
export interface KoaStore {
  get(key: string, maxAge?: unknown, options?: KoaStoreOptions): Promise<HostSessionData | null | undefined>
  set(key: string, data: HostSessionData, maxAge?: unknown, options?: KoaStoreOptions): Promise<unknown>
  destroy(key: string, options?: KoaStoreOptions): Promise<unknown>
}

/** koa-session's options; each context has its own copy. */
export interface KoaSessionOptions {
  readonly key: string
  readonly store?: KoaStore
  readonly ContextStore?: unknown
  readonly externalKey?: { set(context: KoaContext, key: string): void }
  /** Whether koa-session writes sessions automatically. If not, the application does. */
  readonly autoCommit?: boolean
  readonly path?: string | undefined
  readonly domain?: string | undefined
  readonly sameSite?: unknown
  readonly partitioned?: unknown
  readonly secure?: boolean | undefined
  readonly [option: string]: unknown
}

/** The part of a Koa context that sessmgr uses. */
export interface KoaContext {
  /** Node's request. */
  readonly req: IncomingMessage
  /** Node's response. */
  readonly res: ServerResponse
  /** Koa's request. */
  readonly request: object
  /** The application of the context. */
  readonly app: KoaApplication
  /** Address of the client, according to the application's proxy settings. */
  readonly ip: string
  /** Whether the client uses HTTPS, according to the application's proxy settings. */
  readonly secure: boolean
  /** Path and query, which earlier middleware may have changed. */
  readonly url: string
  /** Path and query, as received. */
  readonly originalUrl: string
  /** The cookies. */
  readonly cookies: {
    /** Sets a cookie in the response. */
    set(name: string, value: string, options: object): unknown
  }
  /** Status of the response. */
  status: number
  /** Body of the response. */
  body: unknown
  /** Sets headers of the response. */
  set(headers: Record<string, string | string[]>): void
}

/** A context with koa-session, and perhaps koa-passport. */
export interface KoaSessionContext extends KoaContext {
  session: KoaSession | HostSessionData | null
  readonly sessionOptions: KoaSessionOptions
  readonly state: Record<string, unknown>
  /** Responds to an error. */
  onerror(error: unknown): void
  [property: string]: unknown
}

/** The part of a Koa application that sessmgr uses. */
export interface KoaApplication {
  /** Prototype of contexts. */
  readonly context: object
  /** Prototype of requests. */
  readonly request: object
}

/** A Koa middleware. */
export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>
