import type { IncomingMessage } from 'node:http'
import type { HostSession, HostStore } from '../../guard/host-types.ts'

/** A @fastify/session session. */
export interface FastifySession extends HostSession {
  readonly sessionId: string
  /** The id as it appears in the cookie. */
  readonly encryptedSessionId?: string
  isModified(): boolean
  regenerate(keys?: readonly string[] | ((error?: unknown) => void), callback?: (error?: unknown) => void): unknown
}

/** A request with @fastify/session, and perhaps @fastify/passport. */
export interface FastifySessionRequest {
  readonly raw: IncomingMessage
  readonly ip: string
  readonly body: unknown
  readonly cookies?: Readonly<Record<string, string | undefined>>
  /** Has no id if the path of the session cookie does not match the request. */
  session: FastifySession | { readonly sessionId?: undefined; readonly encryptedSessionId?: undefined } | null
  readonly sessionStore: HostStore
  readonly passport?: { readonly userProperty: string }
  logIn?(user: unknown): Promise<void>
  flash?(type: string, message: string): unknown
  [property: string]: unknown
}
