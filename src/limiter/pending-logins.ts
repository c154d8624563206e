import { Erasures } from '../auth/erasures.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import type { UserId } from '../ground/user-id.ts'
import type { SessmgrStore } from '../stores/store.ts'
import { MOST_PENDING_MS, markKey, markPending, pendingMark } from './ending/end-sessions.ts'

const BYTES = 32
const SECRET_PATTERN = /^[\w-]{43}$/
/** Maximum number of tries. Each lost race costs one, so that no client can repeat a login forever. */
const TRIES = 3

/** A login that has passed all checks and waits until the user has chosen which sessions to end. */
export interface PendingLogin {
  readonly userId: UserId
  /** When the login expires, by the clock of the process that opened it. */
  readonly expiresAt: number
  /** How many tries are left, including the next one. */
  readonly tries: number
  /** The user's mark when the login was opened; see {@link markPending}. */
  readonly mark: string
  /** The logout generation when the login was opened. */
  readonly generation: number
  /** The id of the user's last erasure when the login was opened. Undefined if there was none. */
  readonly erasure?: string | undefined
}

/**
 * Keeps pending logins, which are not sessions and do not count toward the limit. The store contains only hashes of
 * their secrets.
 *
 * A pending login becomes void when all of the user's sessions, or all except one, are ended together. It also becomes
 * void when the user is erased, or all users are logged out.
 */
export class PendingLogins {
  readonly #store: SessmgrStore
  readonly #erasures: Erasures

  constructor(store: SessmgrStore) {
    this.#store = store
    this.#erasures = new Erasures(store)
  }

  /**
   * Opens a pending login, and returns the secret with which the browser can finish it.
   *
   * @throws SessmgrError `store_unavailable`; `session_ended` if the user was erased meanwhile.
   */
  open(userId: UserId, lifeMs: number): Promise<string> {
    const dropMark = () => this.#store.transients.take(markKey(userId))
    return this.#erasures.unlessErased(userId, () => this.#open(userId, lifeMs), dropMark)
  }

  async #open(userId: UserId, lifeMs: number): Promise<string> {
    const [mark, { generation }, erased] = await Promise.all([
      markPending(this.#store, userId),
      this.#store.epoch.current(),
      this.#erasures.of(userId),
    ])
    const secret = nodeCrypto().randomBytes(BYTES).toString('base64url')
    const life = Math.min(lifeMs, MOST_PENDING_MS)
    const login = { userId, expiresAt: Date.now() + life, tries: TRIES, mark, generation, erasure: erased?.id }
    await this.#write(secret, login, life)
    return secret
  }

  /**
   * Reads a pending login and leaves it open. Resolves to undefined if it is unknown, taken, expired or void.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  read(secret: unknown): Promise<PendingLogin | undefined> {
    return this.#valid(secret, (key) => this.#store.transients.get(key))
  }

  /**
   * Takes a pending login. Of concurrent calls, only one resolves to the login.
   *
   * @throws SessmgrError `store_unavailable`; the login may or may not have been taken.
   */
  take(secret: unknown): Promise<PendingLogin | undefined> {
    return this.#valid(secret, (key) => this.#store.transients.take(key))
  }

  /**
   * Opens a pending login again after a lost race, with one try fewer and the same expiry. Resolves to the reopened
   * login, or to undefined if no try is left.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async putBack(secret: string, login: PendingLogin): Promise<PendingLogin | undefined> {
    const left = { ...login, tries: login.tries - 1 }
    // The login may have been opened by another process, whose clock differs.
    const life = Math.min(login.expiresAt - Date.now(), MOST_PENDING_MS)
    if (left.tries < 1 || life <= 0) return undefined
    await this.#write(secret, left, life)
    return left
  }

  /**
   * Checks whether a login has become void, perhaps since it was taken.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async isVoid(login: PendingLogin): Promise<boolean> {
    const [mark, { generation }, erased] = await Promise.all([
      pendingMark(this.#store, login.userId),
      this.#store.epoch.current(),
      this.#erasures.of(login.userId),
    ])
    if (erased?.isRunning || erased?.id !== login.erasure) return true
    // The mark outlives the login, so the store has lost a missing mark, and may have lost a later one too.
    return mark !== login.mark || generation !== login.generation
  }

  #write(secret: string, login: PendingLogin, life: number): Promise<void> {
    return this.#store.transients.set(keyOf(secret), JSON.stringify(login), life)
  }

  async #valid(secret: unknown, get: (key: string) => Promise<string | undefined>): Promise<PendingLogin | undefined> {
    if (typeof secret !== 'string' || !SECRET_PATTERN.test(secret)) return undefined
    const text = await get(keyOf(secret))
    if (text === undefined) return undefined
    const login = JSON.parse(text) as PendingLogin
    return (await this.isVoid(login)) ? undefined : login
  }
}

function keyOf(secret: string): string {
  return `pending:${nodeCrypto().createHash('sha256').update(secret).digest('base64url')}`
}
