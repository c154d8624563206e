import { withDeadline } from '../../ground/deadline.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { TransientStore } from '../../options/transient-store.ts'

const LIFE_MS = 7 * 24 * 60 * 60_000
const GROUP = 'lazycomments'

/**
 * Caches the serialized comments block of each post, without any comments.
 *
 * All methods except `key` and `remember` reject with `store_unavailable` if the store cannot be reached.
 */
export interface BlockCache {
  /** Returns the key of a post's entry. */
  key(postId: number): string
  /** Reads the block of a post, or returns false if it is not cached. */
  get(postId: number): Promise<string | false>
  /** Caches the block of a post for seven days. */
  set(postId: number, serializedBlock: string): Promise<void>
  /**
   * Returns the cached block of a post, or creates and caches it. A block created while the cache was being cleared is
   * not cached.
   *
   * While the store is down, creates the block each time.
   */
  remember(
    postId: number,
    make: () => Promise<string | undefined>,
    down: {
      /** Milliseconds after which the store counts as down. */
      readonly patienceMs: number
      /** Called with the reason why the cache could not be used. */
      readonly tell: (error: Error) => void
    },
  ): Promise<string | undefined>
  /** Invalidates all entries, in constant time. */
  flush_all(): Promise<void>
}

/** Creates the block cache on top of a transient store. */
export function createBlockCache(transients: TransientStore): BlockCache {
  const key = (postId: number) => `lazycomments_block_${postId}`

  async function read(postId: number): Promise<{ block: string | false; generation: number }> {
    const [kept, generation] = await Promise.all([transients.get(key(postId)), transients.generation(GROUP)])
    const separator = kept?.indexOf(' ') ?? -1
    const isValid = kept !== undefined && Number(kept.slice(0, separator)) === generation
    return { block: isValid && kept.slice(separator + 1), generation }
  }

  /** The generation is stored before the block, so that blocks of earlier generations can be recognized. */
  const write = (postId: number, block: string, generation: number) =>
    transients.set(key(postId), `${generation} ${block}`, LIFE_MS)

  return {
    key,
    get: async (postId) => (await read(postId)).block,
    set: async (postId, serializedBlock) => write(postId, serializedBlock, await transients.generation(GROUP)),
    async remember(postId, make, { patienceMs, tell }) {
      const tooSlow = () => new SessmgrError('store_unavailable', 'The store is not responding.')
      const found = await withDeadline(read(postId), patienceMs, tooSlow).catch(tell)
      if (found && found.block !== false) return found.block
      const block = await make()
      // Not awaited: no request should have to wait for the cache.
      if (found && block !== undefined) write(postId, block, found.generation).catch(tell)
      return block
    },
    async flush_all() {
      await transients.advance(GROUP)
    },
  }
}
