import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HostSessionData } from '../../guard/host-types.ts'

/** A session of koa-session. Its `regenerate` keeps the data and gives it another id. */
export interface KoaSession extends HostSessionData {
  /** The id that the session had when this object was made. */
  readonly externalKey: string
  regenerate(): Promise<void>
}

/** What koa-session tells a store of the call. */
export interface KoaStoreOptions {
  readonly ctx?: KoaContext
  readonly [option: string]: unknown
}

/** A store of koa-session. */
export interface KoaStore {
  get(key: string, maxAge?: unknown, options?: KoaStoreOptions): Promise<HostSessionData | null | undefined>
  set(key: string, data: HostSessionData, maxAge?: unknown, options?: KoaStoreOptions): Promise<unknown>
  destroy(key: string, options?: KoaStoreOptions): Promise<unknown>
}

/** The options of koa-session; each context has its own copy. */
export interface KoaSessionOptions {
  readonly key: string
  readonly store?: KoaStore
  readonly ContextStore?: unknown
  readonly externalKey?: { set(context: KoaContext, key: string): void }
  /** Whether koa-session writes sessions by itself; otherwise the application does. */
  readonly autoCommit?: boolean
  genid?: unknown
  readonly [option: string]: unknown
}

/** A context of Koa, as far as it is needed here. */
export interface KoaContext {
  /** The request of Node. */
  readonly req: IncomingMessage
  /** The response of Node. */
  readonly res: ServerResponse
  /** The request of Koa. */
  readonly request: object
  /** The application that the context belongs to. */
  readonly app: KoaApplication
  /** Address of the client, by the application's rules for proxies. */
  readonly ip: string
  /** Path and query, as middlewares before may have changed them. */
  readonly url: string
  /** Path and query, as they arrived. */
  readonly originalUrl: string
  /** The cookies. */
  readonly cookies: {
    /** Sets a cookie of the answer. */
    set(name: string, value: string, options: object): unknown
  }
  /** Status of the answer. */
  status: number
  /** Body of the answer. */
  body: unknown
  /** Sets headers of the answer. */
  set(headers: Record<string, string | string[]>): void
}

/** A context on which koa-session, and perhaps koa-passport, have been at work. */
export interface KoaSessionContext extends KoaContext {
  session: KoaSession | HostSessionData | null
  readonly sessionOptions: KoaSessionOptions
  readonly state: Record<string, unknown>
  /** Answers an error. */
  onerror(error: unknown): void
  [property: string]: unknown
}

/** An application of Koa, as far as it is needed here. */
export interface KoaApplication {
  /** What every context inherits from. */
  readonly context: object
  /** What every request inherits from. */
  readonly request: object
}

/** A middleware of Koa. */
export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>
