import type { UserId } from '../../ground/user-id.ts'

/** Spells every key of the store. Nothing else does. */
export interface Keys {
  /** The sessions of one user: one slot in a cluster. */
  sessions(userId: UserId): string
  /** The application passwords of one user. */
  passwords(userId: UserId): string
  /** A text that is kept for a while. */
  transient(key: string): string
  /** The generation of a group of such texts. */
  generation(group: string): string
  readonly epoch: string
  readonly options: string
}

/** Makes the keys below a prefix. */
export function createKeys(prefix: string): Keys {
  return {
    // Encoded, because a brace in a user id would end the hash tag early.
    sessions: (userId) => `${prefix}{${encodeURIComponent(userId)}}:s`,
    passwords: (userId) => `${prefix}{${encodeURIComponent(userId)}}:p`,
    transient: (key) => `${prefix}transient:${key}`,
    generation: (group) => `${prefix}generation:${group}`,
    epoch: `${prefix}epoch`,
    options: `${prefix}options`,
  }
}
