import { withDeadline } from '../../ground/deadline.ts'
import { SessmgrError } from '../../ground/errors.ts'
import type { TransientStore } from '../../options/transient-store.ts'
import { type BlockCache, blockKey } from './lazy-comments.ts'

const LIFE_MS = 7 * 24 * 60 * 60_000
const GROUP = 'lazycomments'

/** Creates the block cache on top of a transient store. */
export function createBlockCache(transients: TransientStore): BlockCache {
  async function read(postId: number): Promise<{ block: string | false; generation: number }> {
    const [kept, generation] = await Promise.all([transients.get(blockKey(postId)), transients.generation(GROUP)])
    const separator = kept?.indexOf(' ') ?? -1
    const isValid = kept !== undefined && Number(kept.slice(0, separator)) === generation
    return { block: isValid && kept.slice(separator + 1), generation }
  }

  /** The generation is stored before the block, so that blocks of earlier generations can be recognized. */
  const write = (postId: number, block: string, generation: number) =>
    transients.set(blockKey(postId), `${generation} ${block}`, LIFE_MS)

  return {
    key: blockKey,
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
