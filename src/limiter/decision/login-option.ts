import type { UserId } from '../../ground/user-id.ts'
import type { Login } from '../../sessions/session-record.ts'

/** A login, as the `login` option sees it. */
export interface LoginContext {
  /** Id of the user who logs in. */
  readonly userId: UserId
  /** The user as your application passed it to the login. Undefined with explicit calls. */
  readonly user: unknown
  /** Address of the client. Null if unknown. */
  readonly ip: string | null
  /** User agent of the client. Null if unknown. */
  readonly userAgent: string | null
  /** The browser, as in {@link SessionRecord}. Null without the `device` option. */
  readonly device: string | null
  /** The request as your framework passes it: Express', Fastify's, Koa's context, or a `Request`. Undefined if unknown. */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows its framework.
  readonly request: any
  /**
   * The session that the request came with, if it belongs to another user, as when support signs in as a customer.
   * Undefined if a user who acts as another goes back.
   */
  readonly from: Login | undefined
}

/** What the `login` option may say about a login. */
export interface LoginAnswer {
  /** Label of the session, of 1 to 64 characters, for `limits`, lists and `endAll`. @default by `labelOf` */
  readonly label?: string | undefined
  /** Whether the session counts toward the limit. If not, it is never refused, and ends nothing. @default true */
  readonly counts?: boolean | undefined
}

/** Says once, at each login, what its session is. */
export type LoginOption = (context: LoginContext) => LoginAnswer | undefined | Promise<LoginAnswer | undefined>

const MOST_CHARACTERS = 64

/** Returns what is wrong with an answer about a login, if anything. */
export function problemOfAnswer({
  label,
  counts,
  ...others
}: { [Name in keyof LoginAnswer]: unknown }): string | undefined {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `"${unknown}" is unknown; the answer has "label" and "counts"`
  const isLabel = typeof label === 'string' && label.length >= 1 && label.length <= MOST_CHARACTERS
  if (label !== undefined && !isLabel) return `"label" must be a string of 1 to ${MOST_CHARACTERS} characters`
  return counts === undefined || typeof counts === 'boolean' ? undefined : '"counts" must be true or false'
}
