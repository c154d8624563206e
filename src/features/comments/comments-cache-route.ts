import * as z from 'zod/mini'
import type { Hooks } from '../../hooks/hooks.ts'
import { type RestRoute, restRoute } from '../../routes/rest-route.ts'
import type { BlockCache } from './block-cache.ts'
import { requireCommentsAccess } from './require-comments-access.ts'

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
