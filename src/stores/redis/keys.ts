import type { UserId } from '../../ground/user-id.ts'

/** Builds every key of the store. */
export interface Keys {
  /** Key of a user's sessions: one per user, with the user id as its hash tag. */
  sessions(userId: UserId): string
  /** Key of a user's application passwords. */
  passwords(userId: UserId): string
  /** Key of a transient string. */
  transient(key: string): string
  /** Key of the generation of a group of transients. */
  generation(group: string): string
  readonly epoch: string
  readonly options: string
  /** Keys of the index of people, in one slot. */
  readonly people: { readonly recent: string; readonly most: string; readonly sum: string }
}

/** Creates the keys with a prefix. */
export function createKeys(prefix: string): Keys {
  return {
    // Encoded, because a brace in a user id would end the hash tag too early.
    sessions: (userId) => `${prefix}{${encodeURIComponent(userId)}}:s`,
    passwords: (userId) => `${prefix}{${encodeURIComponent(userId)}}:p`,
    transient: (key) => `${prefix}transient:${key}`,
    generation: (group) => `${prefix}generation:${group}`,
    epoch: `${prefix}epoch`,
    options: `${prefix}options`,
    people: { recent: `${prefix}{people}:recent`, most: `${prefix}{people}:most`, sum: `${prefix}{people}:sum` },
  }
}
