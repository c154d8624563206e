import { BoundedMap } from '../ground/bounded-map.ts'
import type { Clock } from '../ground/clock.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import { requireUserId, type UserId } from '../ground/user-id.ts'
import type { ChangedByWhom } from '../options/option-change.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { Erasures } from './erasures.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 24
/** Matches a password without its spaces. */
const PASSWORD = new RegExp(`^[A-Za-z0-9]{${LENGTH},}$`)

/** An application password as it is stored: hashed. */
export interface StoredPassword {
  /** Id of the password, unique for its user. Used to revoke it. */
  readonly id: string
  /** What the password is for, as entered when it was created. */
  readonly name: string
  /** SHA-256 of the password, in hex. A generated password has 142 random bits, so a slow hash would add nothing. */
  readonly hash: string
  /** Time of creation, in milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/**
 * Stores users' application passwords.
 *
 * Every method is atomic and rejects with `store_unavailable` if the store cannot be reached.
 */
export interface ApplicationPasswordStore {
  /** Adds a password, replacing one with the same id. */
  add(userId: UserId, password: StoredPassword): Promise<void>
  /** Lists a user's passwords, oldest first. Returns an empty list for an unknown user. */
  list(userId: UserId): Promise<readonly StoredPassword[]>
  /**
   * Checks whether a user has a password with this hash. The time it takes does not depend on the number of passwords.
   */
  has(userId: UserId, hash: string): Promise<boolean>
  /** Removes a password. Resolves to false if no password has this id. */
  remove(userId: UserId, id: string): Promise<boolean>
  /** Removes all passwords of a user, and any key or row that contains the user's id. */
  erase(userId: UserId): Promise<void>
}

/** An application password without its hash. */
export interface PasswordInfo extends Omit<StoredPassword, 'hash'> {
  /**
   * Time of the last use, in milliseconds since the Unix epoch, accurate to about five minutes. Undefined if unknown.
   */
  readonly lastUsedAt?: number
}

/** Manages passwords that scripts use instead of a session. Each has a name, is shown only once, and can be revoked. */
export interface ApplicationPasswords {
  /**
   * Creates a password of 24 random letters and digits.
   *
   * @param name What the password is for, shown in lists.
   * @param given A password to use instead of a random one, for deployments that must know it in advance. It must have
   * at least 24 letters and digits (A to Z, a to z, 0 to 9) and should be random. Spaces are ignored.
   * @returns The stored data and the password itself, which cannot be read again.
   * @throws SessmgrError `invalid_option` if `given` is too short or contains other characters; `user_id_missing`,
   * `store_unavailable`.
   */
  create(
    userId: UserId,
    name: string,
    given?: string,
  ): Promise<
    PasswordInfo & {
      /** The password itself, in groups of four characters. */
      readonly password: string
    }
  >
  /**
   * Lists a user's passwords, oldest first, without the passwords themselves. Returns an empty list for an unknown
   * user.
   *
   * @throws SessmgrError `user_id_missing`, `store_unavailable`.
   */
  list(userId: UserId): Promise<readonly PasswordInfo[]>
  /**
   * Revokes a password at once. Resolves to false if the user has no password with this id.
   *
   * @throws SessmgrError `user_id_missing`, `store_unavailable`.
   */
  revoke(userId: UserId, id: string): Promise<boolean>
  /**
   * Checks whether a password belongs to a user. Ignores spaces. The time it takes does not reveal whether the user
   * exists.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  verify(userId: UserId | undefined, password: string): Promise<boolean>
}

/** A password that was created or revoked. */
export interface PasswordChange extends ChangedByWhom {
  readonly userId: UserId
  readonly id: string
  /** Undefined if the passwords could not be listed. */
  readonly name?: string | undefined
}

/** Application passwords whose creation and revocation are recorded. */
export interface NotedPasswords extends ApplicationPasswords {
  create(
    ...values: [...Parameters<ApplicationPasswords['create']>, whom?: ChangedByWhom]
  ): ReturnType<ApplicationPasswords['create']>
  revoke(userId: UserId, id: string, whom?: ChangedByWhom): Promise<boolean>
  /** Removes all passwords of a user who is being erased, and returns how many there were. */
  erase(userId: UserId): Promise<number>
}

export interface ApplicationPasswordParts {
  readonly store: ApplicationPasswordStore
  readonly clock: Clock
  /** Remembers when passwords were last used. */
  readonly transients?: TransientStore
  /** The marks of erased users. */
  readonly erasures?: Erasures | undefined
  /** Records a change in the activity log. */
  readonly note?: ((type: `application_password.${'created' | 'revoked'}`, change: PasswordChange) => void) | undefined
}

/** Creates the manager of the application passwords in a store. */
export function createApplicationPasswords({
  store,
  clock,
  transients,
  erasures,
  note,
}: ApplicationPasswordParts): NotedPasswords {
  const uses = transients && createPasswordUses(transients, clock)
  return {
    async create(userId, name, given, whom) {
      requireUserId(userId)
      if (typeof name !== 'string' || name.trim() === '') {
        throw invalidOption("passwords.create(userId, name) needs a name, such as 'backup script'")
      }
      const password = given === undefined ? randomPassword() : requirePassword(given)
      const stored = { id: nodeCrypto().randomUUID(), name, hash: hashOf(password), createdAt: clock.now() }
      const add = () => store.add(userId, stored)
      await (erasures ? erasures.unlessErased(userId, add, () => store.remove(userId, stored.id)) : add())
      note?.('application_password.created', { userId, id: stored.id, name, ...whom })
      return { ...info(stored), password: (password.match(/.{1,4}/g) ?? []).join(' ') }
    },
    async list(userId) {
      requireUserId(userId)
      const listed = (await store.list(userId)).map(async (stored) => {
        const lastUsedAt = await uses?.last(userId, stored.hash)
        return { ...info(stored), ...(lastUsedAt !== undefined && { lastUsedAt }) }
      })
      return Promise.all(listed)
    },
    async revoke(userId, id, whom) {
      requireUserId(userId)
      const known = await store.list(userId).catch(() => [])
      const isRevoked = await store.remove(userId, id)
      if (isRevoked) {
        const { name, hash } = known.find((stored) => stored.id === id) ?? {}
        if (hash !== undefined) await uses?.forget(userId, hash).catch(() => {})
        note?.('application_password.revoked', { userId, id, name, ...whom })
      }
      return isRevoked
    },
    async erase(userId) {
      const passwords = await store.list(userId)
      for (const { hash } of passwords) await uses?.forget(userId, hash)
      await store.erase(userId)
      return passwords.length
    },
    async verify(userId, password) {
      if (userId !== undefined) requireUserId(userId)
      if (typeof password !== 'string') throw invalidOption('passwords.verify(userId, password) needs a password')
      const plain = withoutBlanks(password)
      // A lookup by hash is safe: guessing the hash of a random password reveals nothing about the password.
      const hash = hashOf(plain)
      const isTheirs = await store.has(userId ?? '', hash)
      if (userId === undefined || !PASSWORD.test(plain) || !isTheirs) return false
      uses?.note(userId, hash)
      return true
    },
  }
}

function randomPassword(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET[nodeCrypto().randomInt(ALPHABET.length)]).join('')
}

function requirePassword(given: unknown): string {
  const plain = typeof given === 'string' ? withoutBlanks(given) : ''
  if (PASSWORD.test(plain)) return plain
  throw invalidOption(
    `An application password must have at least ${LENGTH} letters and digits (A to Z, a to z, 0 to 9)`,
  )
}

function hashOf(password: string): string {
  return nodeCrypto().hash('sha256', password)
}

function withoutBlanks(password: string): string {
  return password.replaceAll(/\s/g, '')
}

function info({ id, name, createdAt }: StoredPassword): PasswordInfo {
  return { id, name, createdAt }
}

/** Minimum time between two recorded uses of a password. */
const FRESH_MS = 5 * 60_000
const KEEP_MS = 400 * 24 * 60 * 60_000
const CAPACITY = 1000

/** Remembers when each application password was last used, unless the store evicts that time. */
function createPasswordUses(transients: TransientStore, clock: Clock) {
  const noted = new BoundedMap<string, number>(CAPACITY)
  return {
    /** Records a use without waiting for the store. A failure is ignored, because the time is only for display. */
    note(userId: UserId, hash: string): void {
      const key = keyOf(userId, hash)
      const now = clock.now()
      if (now - (noted.get(key) ?? Number.NEGATIVE_INFINITY) < FRESH_MS) return
      noted.set(key, now)
      void transients.set(key, String(now), KEEP_MS).catch(() => {})
    },
    /** Forgets when a password was used. */
    async forget(userId: UserId, hash: string): Promise<void> {
      const key = keyOf(userId, hash)
      noted.delete(key)
      await transients.take(key)
    },
    /** Returns the time of the last use, in milliseconds since the Unix epoch. Undefined if unknown. */
    async last(userId: UserId, hash: string): Promise<number | undefined> {
      const at = Number(await transients.get(keyOf(userId, hash)).catch(() => undefined))
      return Number.isSafeInteger(at) && at > 0 ? at : undefined
    },
  }
}

function keyOf(userId: UserId, hash: string): string {
  return `password-used:${nodeCrypto().hash('sha256', `${hash} ${userId}`)}`
}
