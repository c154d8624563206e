// What stands around the lines of the documentation: the names that a reader has in an application of their own.
import type { Express, Request, RequestHandler, Response } from 'express'
import type { Host, HostPosts, HostUsers, LazyComments, Sessmgr, Theme, UserId } from 'sessmgr'

interface Account {
  readonly id: number
  readonly login: string
  readonly name: string
  readonly isAdmin: boolean
}

interface Article {
  readonly id: number
  readonly slug: string
  readonly status: 'published' | 'draft'
  readonly approvedComments: number
}

declare module 'express-session' {
  interface SessionData {
    userId?: string
  }
}

declare global {
  const app: Express
  const req: Request
  const res: Response
  const session: typeof import('express-session')
  const passport: import('passport').Authenticator
  const RedisStore: typeof import('connect-redis').RedisStore
  /** A connected client from the redis package. */
  const client: ReturnType<typeof import('redis').createClient>
  const sessionStore: import('express-session').Store
  /** Pages call either store so. */
  const store: import('express-session').Store & import('sessmgr').SessmgrStore
  const secret: string
  /** Auth.js' providers. */
  const providers: never[]
  /** The key of refresh tokens, and what docs/jwt.md declares. */
  const refreshSecret: string
  const tokens: import('sessmgr/jwt').TokenSessions
  function sign(claims: import('sessmgr/jwt').TokenClaims): { access: string; refresh: string }
  function read(token?: string, key?: string): object
  const sessmgr: typeof import('sessmgr').sessmgr
  const redisStore: typeof import('sessmgr/redis').redisStore
  const limiter: Sessmgr
  const comments: LazyComments
  const host: Host<Account, Article>
  const users: HostUsers<Account>
  const posts: HostPosts<Article>
  const theme: Theme<Article>
  const post: Article
  const user: Account
  const userId: UserId
  const token: string
  /** An Ed25519 key as JWK or PEM. */
  const publicKey: string

  /** A meter and a tracer of OpenTelemetry, as far as pages use them. */
  const meter: {
    createCounter(name: string): { add(value: number, attributes: Record<string, string | undefined>): void }
    createHistogram(
      name: string,
      options: { unit: string },
    ): { record(value: number, attributes: Record<string, string | undefined>): void }
  }
  const tracer: {
    startSpan(name: string): {
      setAttributes(attributes: Record<string, string | undefined>): unknown
      recordException(error: Error): void
      end(): void
    }
  }
  /** Metrics of prom-client, as far as pages use them. */
  const Counter: new (options: {
    name: string
    help: string
    labelNames: string[]
  }) => {
    inc(labels: Record<string, string>): void
  }
  const Histogram: new (options: { name: string; help: string; buckets: number[] }) => { observe(value: number): void }

  function isCodeOf(userId: string, code: unknown): Promise<boolean>
  function findById(id: string): Promise<Account | undefined>
  function findByEmail(email: string): Promise<Account | undefined>
  function findByLogin(login: string): Promise<Account | undefined>
  function findPost(id: number): Promise<Article | undefined>
  function commentsHtml(post: Article, reader: UserId | undefined): string
  function nightLimit(limiter: Sessmgr): RequestHandler
  function checkPassword(form: unknown): Promise<Account | undefined>
  function requireSignIn(...parameters: Parameters<RequestHandler>): void
  function isPaying(userId: UserId): Promise<boolean>
  function isSupport(userId: UserId): Promise<boolean>
  function siteOf(host: string): string
  function planOf(userId: UserId): Promise<number>
  function requireSupport(...parameters: Parameters<RequestHandler>): void
  function isStaff(userId: UserId): Promise<boolean>
  function audit(what: string, userId: UserId): void
  function findUser(
    userId: UserId,
  ): Promise<{ readonly id: string; readonly email: string; readonly wantsLoginMail: boolean }>
  function countLoginMails(userId: UserId): Promise<number>
  function sendMail(mail: { to: string; subject: string; text: string }): Promise<void>
}
