import { nodeCrypto } from '../ground/node-crypto.ts'
import { isUserId, type UserId } from '../ground/user-id.ts'
import { changePending, openPending, type WaitingLogin } from '../sessions/user-state.ts'
import type { SessmgrStore } from '../stores/store.ts'

const BYTES = 32
/** Matches a secret: random bytes, and the user id as JSON. */
const SECRET_PATTERN = /^[\w-]{43}\.([\w-]+)$/
/** How many characters of its hash identify a secret: 132 bits. */
const NAME_LENGTH = 22

/** A login that has passed all checks and waits until the user has chosen which sessions to end. */
export interface PendingLogin {
  readonly userId: UserId
  /** Milliseconds until it expires. */
  readonly leftMs: number
  /** How many tries are left, including the next one. */
  readonly tries: number
  /** The label that the `login` option has given the login. */
  readonly label?: string | undefined
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

  constructor(store: SessmgrStore) {
    this.#store = store
  }

  /**
   * Opens a pending login, and returns the secret with which the browser can finish it. The secret contains the user id,
   * so only the browser can tell to whom it belongs.
   *
   * @throws SessmgrError `store_unavailable`, also shortly after the user was erased.
   */
  async open(userId: UserId, lifeMs: number, label?: string): Promise<string> {
    const { sessions, epoch } = this.#store
    const random = nodeCrypto().randomBytes(BYTES).toString('base64url')
    const secret = `${random}.${Buffer.from(JSON.stringify(userId)).toString('base64url')}`
    const { generation } = await epoch.current()
    await sessions.changeState(userId, openPending(nameOf(secret), lifeMs, generation, label))
    return secret
  }

  /**
   * Reads a pending login and leaves it open. Resolves to undefined if it is unknown, taken, expired or void.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async read(secret: unknown): Promise<PendingLogin | undefined> {
    const found = await this.#change(secret)
    return found?.isTaken ? undefined : found
  }

  /**
   * Takes a pending login. Of concurrent calls, only one resolves to the login.
   *
   * @throws SessmgrError `store_unavailable`; the login may or may not have been taken.
   */
  async take(secret: unknown): Promise<PendingLogin | undefined> {
    const found = await this.#change(secret, (login) => (login.isTaken ? login : { ...login, isTaken: true }))
    return found?.isTaken ? undefined : found
  }

  /**
   * Opens a taken login again, with the same expiry. Resolves to the reopened login, or to undefined if no try is left,
   * or it has become void.
   *
   * @param isRace Whether the login has lost a race, which costs a try. Wrong proofs are limited by their own count.
   * @throws SessmgrError `store_unavailable`.
   */
  async putBack(secret: string, isRace: boolean): Promise<PendingLogin | undefined> {
    const cost = isRace ? 1 : 0
    const found = await this.#change(secret, (login) =>
      login.tries > cost ? { ...login, tries: login.tries - cost, isTaken: false } : undefined,
    )
    if (!found || found.tries <= cost) return undefined
    const { userId, leftMs, tries, label } = found
    return { userId, leftMs, tries: tries - cost, label }
  }

  /**
   * Checks whether a login is still valid after it was taken.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async isValid(secret: string): Promise<boolean> {
    return (await this.#change(secret)) !== undefined
  }

  /**
   * Removes a pending login. Resolves to false if it had become void, perhaps since it was taken.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  async close(secret: string): Promise<boolean> {
    return (await this.#change(secret, () => undefined)) !== undefined
  }

  async #change(
    secret: unknown,
    change?: (login: WaitingLogin) => WaitingLogin | undefined,
  ): Promise<(PendingLogin & Pick<WaitingLogin, 'isTaken'>) | undefined> {
    const userId = userIdIn(secret)
    if (userId === undefined) return undefined
    const { sessions, epoch } = this.#store
    const [found, { generation }] = await Promise.all([
      sessions.changeState(userId, changePending(nameOf(String(secret)), change)),
      epoch.current(),
    ])
    if (!found || found.login.generation !== generation) return undefined
    const { tries, label, isTaken } = found.login
    return { userId, leftMs: found.leftMs, tries, label, isTaken }
  }
}

/** Returns the name of a secret, which covers the user id, so that nobody can change it. */
function nameOf(secret: string): string {
  return nodeCrypto().hash('sha256', secret, 'base64url').slice(0, NAME_LENGTH)
}

function userIdIn(secret: unknown): UserId | undefined {
  const [, part = ''] = (typeof secret === 'string' && SECRET_PATTERN.exec(secret)) || []
  try {
    const userId: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return isUserId(userId) ? userId : undefined
  } catch {
    return undefined
  }
}
