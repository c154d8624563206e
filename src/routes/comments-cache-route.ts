import * as z from 'zod/mini'
import type { BlockCache } from '../comments/block-cache.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { requireCommentsAccess } from '../middleware/require-comments-access.ts'
import { type RestRoute, restRoute } from './rest-route.ts'

/** Clears the block cache of the lazy comments. */
export function commentsCacheRoute(cache: BlockCache, hooks: Hooks): RestRoute {
  return restRoute({
    methods: ['DELETE'],
    path: '/lazycomments/v1/cache',
    summary: 'Clears every kept comments block.',
    access: (caller, host) => requireCommentsAccess(hooks, host, caller),
    schemas: () => ({ params: z.object({}), response: z.object({ success: z.boolean(), message: z.string() }) }),
    async handle() {
      await cache.flush_all()
      return { success: true, message: 'The comments cache is empty now.' }
    },
  })
}
