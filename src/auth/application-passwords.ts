import { createHash, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { UserId } from '../user-id.ts'
import type { ApplicationPasswordStore, StoredPassword } from './application-password-store.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const LENGTH = 24

/** An application password as it may be shown. */
export type PasswordInfo = Omit<StoredPassword, 'hash'>

/** Passwords that scripts use instead of a session: named, shown once, revocable one by one. */
export interface ApplicationPasswords {
  /**
   * Creates a password of 24 random letters and digits.
   *
   * @param given A password to use instead of a random one, as a deployment that must know it beforehand needs.
   * @returns What to show of it, and the password itself, in groups of four, for the only time.
   */
  create(userId: UserId, name: string, given?: string): Promise<PasswordInfo & { readonly password: string }>
  /** Lists the passwords of a user, oldest first, without the passwords. */
  list(userId: UserId): Promise<readonly PasswordInfo[]>
  /** Revokes a password at once. Resolves false when there is none with this id. */
  revoke(userId: UserId, id: string): Promise<boolean>
  /** Tells whether a password is one of the user's. Blanks in it do not count; no user is no match, and takes as long. */
  verify(userId: UserId | undefined, password: string): Promise<boolean>
}

/** Creates the application passwords over their store. */
export function createApplicationPasswords(store: ApplicationPasswordStore, clock: Clock): ApplicationPasswords {
  return {
    async create(userId, name, given) {
      const password = given === undefined ? randomPassword() : withoutBlanks(given)
      const stored = { id: randomUUID(), name, hash: hashOf(password).toString('hex'), createdAt: clock.now() }
      await store.add(userId, stored)
      return { ...info(stored), password: (password.match(/.{1,4}/g) ?? []).join(' ') }
    },
    list: async (userId) => (await store.list(userId)).map(info),
    revoke: (userId, id) => store.remove(userId, id),
    async verify(userId, password) {
      const given = hashOf(withoutBlanks(password))
      const stored = await store.list(userId ?? '')
      const matches = stored.map(({ hash }) => timingSafeEqual(given, Buffer.from(hash, 'hex')))
      return userId !== undefined && matches.includes(true)
    },
  }
}

function randomPassword(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

function hashOf(password: string): Buffer {
  return createHash('sha256').update(password).digest()
}

function withoutBlanks(password: string): string {
  return password.replaceAll(/\s/g, '')
}

function info({ id, name, createdAt }: StoredPassword): PasswordInfo {
  return { id, name, createdAt }
}
