import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HostSessionData } from '../../middleware/host-types.ts'

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
  readonly externalKey?: unknown
  genid?: unknown
  readonly [option: string]: unknown
}

/** A context of Koa, as far as it is needed here. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly request: object
  readonly app: KoaApplication
  readonly ip: string
  readonly url: string
  readonly originalUrl: string
  readonly cookies: { set(name: string, value: string, options: object): unknown }
  status: number
  body: unknown
  set(headers: Record<string, string | string[]>): void
}

/** A context on which koa-session, and perhaps koa-passport, have been at work. */
export interface KoaSessionContext extends KoaContext {
  session: KoaSession | HostSessionData | null
  readonly sessionOptions: KoaSessionOptions
  readonly state: Record<string, unknown>
  [property: string]: unknown
}

/** An application of Koa, as far as it is needed here. */
export interface KoaApplication {
  readonly context: object
  readonly request: object
}

/** A middleware of Koa. */
export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>
