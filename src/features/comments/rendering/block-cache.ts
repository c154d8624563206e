import { withDeadline } from '../../../ground/deadline.ts'
import { SessmgrError } from '../../../ground/errors.ts'
import type { TransientStore } from '../../../options/transient-store.ts'

const LIFE_MS = 7 * 24 * 60 * 60_000
const GROUP = 'lazycomments'

/**
 * Keeps the serialised comments block of each post: the block, never a comment.
 *
 * All but `key` and `remember` reject with `store_unavailable` when the store cannot be reached.
 */
export interface BlockCache {
  /** Names the entry of a post. */
  key(postId: number): string
  /** Reads the block of a post; false when none is kept. */
  get(postId: number): Promise<string | false>
  /** Keeps the block of a post for seven days. */
  set(postId: number, serializedBlock: string): Promise<void>
  /**
   * Reads the block of a post, or makes and keeps it. One that was made while the cache was flushed is not kept.
   *
   * With the store down the block is made each time.
   */
  remember(
    postId: number,
    make: () => Promise<string | undefined>,
    down: {
      /** Milliseconds after which the store counts as down. */
      readonly patienceMs: number
      /** Is told why. */
      readonly tell: (error: Error) => void
    },
  ): Promise<string | undefined>
  /** Voids every entry, in constant time. */
  flush_all(): Promise<void>
}

/** Creates the block cache over a store of transient texts. */
export function createBlockCache(transients: TransientStore): BlockCache {
  const key = (postId: number) => `lazycomments_block_${postId}`

  async function read(postId: number): Promise<{ block: string | false; generation: number }> {
    const [kept, generation] = await Promise.all([transients.get(key(postId)), transients.generation(GROUP)])
    const separator = kept?.indexOf(' ') ?? -1
    const isValid = kept !== undefined && Number(kept.slice(0, separator)) === generation
    return { block: isValid && kept.slice(separator + 1), generation }
  }

  /** The generation stands before the block, so that one that was made under an earlier one is void. */
  const write = (postId: number, block: string, generation: number) =>
    transients.set(key(postId), `${generation} ${block}`, LIFE_MS)

  return {
    key,
    get: async (postId) => (await read(postId)).block,
    set: async (postId, serializedBlock) => write(postId, serializedBlock, await transients.generation(GROUP)),
    async remember(postId, make, { patienceMs, tell }) {
      const tooSlow = () => new SessmgrError('store_unavailable', 'The store does not answer.')
      const found = await withDeadline(read(postId), patienceMs, tooSlow).catch(tell)
      if (found && found.block !== false) return found.block
      const block = await make()
      // Nobody has to wait until it is kept.
      if (found && block !== undefined) write(postId, block, found.generation).catch(tell)
      return block
    },
    async flush_all() {
      await transients.advance(GROUP)
    },
  }
}
