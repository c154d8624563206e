import { setTimeout as sleep } from 'node:timers/promises'
import { type BetterAuthOptions, type BetterAuthPlugin, betterAuth } from 'better-auth'
import { type MemoryDB, memoryAdapter } from 'better-auth/adapters/memory'
import { onTestFinished } from 'vitest'
import { type BetterAuthLimitOptions, sessionLimit } from '../../src/better-auth.ts'
import { type SessmgrOptions, sessmgr } from '../../src/index.ts'

export const SITE = 'http://127.0.0.1:3000'
export const PASSWORD = 'secret-of-all'

export type Storage = 'database' | 'secondary' | 'both'
export type Cache = 'off' | 'compact' | 'jwt' | 'jwe'

export interface LabOptions {
  readonly sessmgr?: SessmgrOptions
  readonly storage?: Storage
  readonly cache?: Cache
  /** Plugins before the limit. */
  readonly plugins?: readonly BetterAuthPlugin[]
  /** Plugins behind it, which act on admitted logins. */
  readonly behind?: readonly BetterAuthPlugin[]
  readonly limit?: BetterAuthLimitOptions | false
  /** How many milliseconds a call to the database takes at most. */
  readonly latency?: number
  readonly auth?: Partial<BetterAuthOptions>
  /** The database of another application. */
  readonly db?: MemoryDB
}

/** A password "hash" that costs nothing. */
const PLAIN = {
  hash: async (password: string) => `plain:${password}`,
  verify: async ({ hash, password }: { hash: string; password: string }) => hash === `plain:${password}`,
}

const CALLS = ['create', 'findOne', 'findMany', 'update', 'updateMany', 'delete', 'deleteMany', 'count'] as const

/** better-auth's memory adapter with a delay, which counts its calls. */
function slowAdapter(db: MemoryDB, latency: number, count: () => void): NonNullable<BetterAuthOptions['database']> {
  return (options: BetterAuthOptions) => {
    const inner = memoryAdapter(db)(options) as unknown as Record<string, (...given: unknown[]) => unknown>
    const slow = CALLS.map((name) => {
      const call = async (...given: unknown[]) => {
        count()
        if (latency > 0) await sleep(Math.random() * latency)
        return inner[name]?.(...given)
      }
      return [name, call]
    })
    return { ...inner, ...Object.fromEntries(slow) } as never
  }
}

/** Starts better-auth with its memory adapter, and with the limit behind its plugins. */
export function startAuth({ storage = 'database', cache = 'off', latency = 0, limit = {}, ...more }: LabOptions = {}) {
  const db = more.db ?? {}
  for (const model of ['user', 'session', 'account', 'verification', 'twoFactor', 'jwks', 'deviceCode'])
    db[model] ??= []
  const rows = () => db.session as { token: string; userId: string; expiresAt: Date; createdAt: Date }[]
  const secondary = new Map<string, string>()
  const calls = { database: 0 }
  const logger = { warn() {}, error() {} }
  const limiter = sessmgr({ logger, settings: { maximum: 2, logic: 'logout_oldest' }, ...more.sessmgr })
  onTestFinished(() => limiter.close())
  const plugin = limit === false ? undefined : sessionLimit(limiter, limit)
  const options: BetterAuthOptions = {
    baseURL: SITE,
    secret: 'a secret of at least thirty-two characters',
    database: slowAdapter(db, latency, () => {
      calls.database++
    }),
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    emailAndPassword: { enabled: true, password: PLAIN },
    user: { deleteUser: { enabled: true } },
    ...(storage !== 'database' && {
      secondaryStorage: {
        get: async (key) => secondary.get(key) ?? null,
        set: async (key, value) => void secondary.set(key, value),
        delete: async (key) => void secondary.delete(key),
        increment: async (key) => {
          const count = Number(secondary.get(key) ?? 0) + 1
          secondary.set(key, String(count))
          return count
        },
        getAndDelete: async (key) => {
          const value = secondary.get(key) ?? null
          secondary.delete(key)
          return value
        },
      },
    }),
    session: {
      storeSessionInDatabase: storage === 'both',
      cookieCache: cache === 'off' ? { enabled: false } : { enabled: true, maxAge: 300, strategy: cache },
    },
    ...more.auth,
    plugins: [...(more.plugins ?? []), ...(plugin ? [plugin] : []), ...(more.behind ?? [])],
  }
  const auth = betterAuth(options)
  const client = (bearer = false) => new AuthClient((request) => auth.handler(request), bearer)
  return { auth, limiter, plugin: plugin as NonNullable<typeof plugin>, db, rows, secondary, calls, client }
}

export type Lab = ReturnType<typeof startAuth>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: the tests know what better-auth responds.
  readonly json: any
}

/** A browser, or a client that sends its session as a bearer token instead of a cookie. */
export class AuthClient {
  cookies = new Map<string, string>()
  token: string | null = null
  readonly #handle: (request: Request) => Promise<Response>
  readonly #isBearer: boolean

  constructor(handle: (request: Request) => Promise<Response>, isBearer = false) {
    this.#handle = handle
    this.#isBearer = isBearer
  }

  headers(): Record<string, string> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return {
      origin: SITE,
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0.0.0 Safari/537.36',
      ...(this.token && { authorization: `Bearer ${this.token}` }),
      ...(cookie && { cookie }),
    }
  }

  async send(path: string, body?: unknown): Promise<Answer> {
    const type = { 'content-type': 'application/json' }
    const method = body === undefined ? 'GET' : 'POST'
    const url = path.startsWith('http') ? path : `${SITE}/api/auth${path}`
    const own = { ...this.headers(), ...(body !== undefined && type) }
    const text = body === undefined ? null : JSON.stringify(body)
    const response = await this.#handle(new Request(url, { method, headers: own, body: text }))
    this.take(response.headers)
    const given = await response.text()
    const json = /^[[{n]/.test(given) ? JSON.parse(given) : undefined
    return { status: response.status, headers: response.headers, text: given, json }
  }

  take(headers: Headers): void {
    this.token = (this.#isBearer && headers.get('set-auth-token')) || this.token
    for (const cookie of headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';', 1)
      const name = pair.slice(0, pair.indexOf('='))
      const isSession = name.includes('session_')
      if (/max-age=0/i.test(cookie)) this.cookies.delete(name)
      else if (!this.#isBearer || !isSession) this.cookies.set(name, pair.slice(name.length + 1))
    }
  }

  /** Returns a copy, as a thief would have it. */
  copy(): AuthClient {
    const copy = new AuthClient(this.#handle, this.#isBearer)
    copy.cookies = new Map(this.cookies)
    copy.token = this.token
    return copy
  }

  signUp = (name = 'ada') =>
    this.send('/sign-up/email', { email: `${name}@site.test`, password: PASSWORD, name, username: name })
  signIn = (name = 'ada') => this.send('/sign-in/email', { email: `${name}@site.test`, password: PASSWORD })

  /** Returns the session that a request has, or null. */
  async session() {
    return (await this.copy().send('/get-session')).json?.session ?? null
  }

  async isLive(): Promise<boolean> {
    return (await this.session()) !== null
  }
}

/** Counts how many of these clients are signed in. */
export async function countLive(clients: readonly AuthClient[]): Promise<number> {
  return (await Promise.all(clients.map((client) => client.isLive()))).filter(Boolean).length
}
