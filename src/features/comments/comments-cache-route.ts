import * as z from 'zod/mini'
import { type RestRoute, restRoute } from '../../routes/rest-route.ts'
import type { GuardedOption } from '../../routes/settings/option-access.ts'
import type { BlockCache } from './rendering/block-cache.ts'

/** Clears the block cache of the lazy comments. */
export function commentsCacheRoute(cache: BlockCache, access: GuardedOption['require']): RestRoute {
  return restRoute({
    methods: ['DELETE'],
    path: '/lazycomments/v1/cache',
    summary: 'Clears every kept comments block.',
    access,
    schemas: () => ({ params: z.object({}), response: z.object({ success: z.boolean(), message: z.string() }) }),
    async handle() {
      await cache.flush_all()
      return { success: true, message: 'The comments cache is empty now.' }
    },
  })
}
