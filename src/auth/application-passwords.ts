import type { Clock } from '../ground/clock.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import { requireUserId, type UserId } from '../ground/user-id.ts'
import type { ChangedByWhom } from '../options/option-change.ts'
import type { TransientStore } from '../options/transient-store.ts'
import type { ApplicationPasswordStore, StoredPassword } from './application-password-store.ts'
import { createPasswordUses } from './password-uses.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 24
/** A password without its spaces. */
const PASSWORD = new RegExp(`^[A-Za-z0-9]{${LENGTH},}$`)

/** An application password without its hash. */
export interface PasswordInfo extends Omit<StoredPassword, 'hash'> {
  /** Time of the last use, in milliseconds since the Unix epoch, to about five minutes. Undefined if unknown. */
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

/** Application passwords whose creation and revocation are noted. */
export interface NotedPasswords extends ApplicationPasswords {
  create(
    ...values: [...Parameters<ApplicationPasswords['create']>, whom?: ChangedByWhom]
  ): ReturnType<ApplicationPasswords['create']>
  revoke(userId: UserId, id: string, whom?: ChangedByWhom): Promise<boolean>
}

export interface ApplicationPasswordParts {
  readonly store: ApplicationPasswordStore
  readonly clock: Clock
  /** Remembers when passwords were last used. */
  readonly transients?: TransientStore
  /** Notes a change, for the activity log. */
  readonly note?: ((type: `application_password.${'created' | 'revoked'}`, change: PasswordChange) => void) | undefined
}

/** Manages application passwords in the given store. */
export function createApplicationPasswords({
  store,
  clock,
  transients,
  note,
}: ApplicationPasswordParts): NotedPasswords {
  const uses = transients && createPasswordUses(transients, clock)
  return {
    async create(userId, name, given, whom) {
      requireUserId(userId)
      const password = given === undefined ? randomPassword() : requirePassword(given)
      const stored = { id: nodeCrypto().randomUUID(), name, hash: hashOf(password), createdAt: clock.now() }
      await store.add(userId, stored)
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
      const known = note ? await store.list(userId).catch(() => []) : []
      const isRevoked = await store.remove(userId, id)
      if (isRevoked) {
        const name = known.find((stored) => stored.id === id)?.name
        note?.('application_password.revoked', { userId, id, name, ...whom })
      }
      return isRevoked
    },
    async verify(userId, password) {
      if (userId !== undefined) requireUserId(userId)
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
