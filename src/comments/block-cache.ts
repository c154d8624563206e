import type { TransientStore } from '../options/transient-store.ts'

const LIFE_MS = 7 * 24 * 60 * 60_000
const GROUP = 'lazycomments'

/** Keeps the serialised comments block of each post: the block, never a comment. */
export interface BlockCache {
  /** Names the entry of a post. */
  key(postId: number): string
  /** Reads the block of a post; false when none is kept. */
  get(postId: number): Promise<string | false>
  /** Keeps the block of a post for seven days. */
  set(postId: number, serializedBlock: string): Promise<void>
  /** Voids every entry, in constant time. */
  flush_all(): Promise<void>
}

/** Creates the block cache over a store of transient texts. */
export function createBlockCache(transients: TransientStore): BlockCache {
  const key = (postId: number) => `lazycomments_block_${postId}`
  return {
    key,
    async get(postId) {
      const [kept, generation] = await Promise.all([transients.get(key(postId)), transients.generation(GROUP)])
      // The generation stands before the block, so that one that was kept while the cache was flushed is void too.
      const separator = kept?.indexOf(' ') ?? -1
      if (kept === undefined || Number(kept.slice(0, separator)) !== generation) return false
      return kept.slice(separator + 1)
    },
    async set(postId, serializedBlock) {
      await transients.set(key(postId), `${await transients.generation(GROUP)} ${serializedBlock}`, LIFE_MS)
    },
    async flush_all() {
      await transients.advance(GROUP)
    },
  }
}
