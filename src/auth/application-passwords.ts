import type { Clock } from '../ground/clock.ts'
import { invalidOption } from '../ground/invalid-option.ts'
import { nodeCrypto } from '../ground/node-crypto.ts'
import { requireUserId, type UserId } from '../ground/user-id.ts'
import type { ApplicationPasswordStore, StoredPassword } from './application-password-store.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 24
/** What a password looks like without its blanks. */
const PASSWORD = new RegExp(`^[A-Za-z0-9]{${LENGTH},}$`)

/** An application password as it may be shown. */
export type PasswordInfo = Omit<StoredPassword, 'hash'>

/** Passwords that scripts use instead of a session: named, shown once, revocable one by one. */
export interface ApplicationPasswords {
  /**
   * Creates a password of 24 random letters and digits.
   *
   * @param name What it is for, as its list shows it.
   * @param given A password to use instead of a random one, as a deployment that must know it beforehand needs: 24 or
   * more letters and digits (A to Z, a to z, 0 to 9), which should be random too. Blanks in it do not count.
   * @returns What to show of it, and the password itself, for the only time.
   * @throws SessmgrError `invalid_option` for a `given` that is shorter or has other characters; `user_id_missing`,
   * `store_unavailable`.
   */
  create(
    userId: UserId,
    name: string,
    given?: string,
  ): Promise<
    PasswordInfo & {
      /** The password itself, in groups of four. */
      readonly password: string
    }
  >
  /**
   * Lists the passwords of a user, oldest first, without the passwords. Unknown user: none.
   *
   * @throws SessmgrError `user_id_missing`, `store_unavailable`.
   */
  list(userId: UserId): Promise<readonly PasswordInfo[]>
  /**
   * Revokes a password at once. Resolves false when the user has none with this id.
   *
   * @throws SessmgrError `user_id_missing`, `store_unavailable`.
   */
  revoke(userId: UserId, id: string): Promise<boolean>
  /**
   * Tells whether a password is one of the user's. Blanks in it do not count; no user is no match, and takes as long.
   *
   * @throws SessmgrError `store_unavailable`.
   */
  verify(userId: UserId | undefined, password: string): Promise<boolean>
}

/** Creates the application passwords over their store. */
export function createApplicationPasswords(store: ApplicationPasswordStore, clock: Clock): ApplicationPasswords {
  return {
    async create(userId, name, given) {
      requireUserId(userId)
      const password = given === undefined ? randomPassword() : requirePassword(given)
      const stored = { id: nodeCrypto().randomUUID(), name, hash: hashOf(password), createdAt: clock.now() }
      await store.add(userId, stored)
      return { ...info(stored), password: (password.match(/.{1,4}/g) ?? []).join(' ') }
    },
    async list(userId) {
      requireUserId(userId)
      return (await store.list(userId)).map(info)
    },
    async revoke(userId, id) {
      requireUserId(userId)
      return store.remove(userId, id)
    },
    async verify(userId, password) {
      if (userId !== undefined) requireUserId(userId)
      const plain = withoutBlanks(password)
      // Found by its hash: a guess of a random password's hash tells nothing of the password.
      const isTheirs = await store.has(userId ?? '', hashOf(plain))
      return userId !== undefined && PASSWORD.test(plain) && isTheirs
    },
  }
}

function randomPassword(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET[nodeCrypto().randomInt(ALPHABET.length)]).join('')
}

function requirePassword(given: unknown): string {
  const plain = typeof given === 'string' ? withoutBlanks(given) : ''
  if (PASSWORD.test(plain)) return plain
  throw invalidOption(`An application password must be ${LENGTH} or more letters and digits (A to Z, a to z, 0 to 9)`)
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
