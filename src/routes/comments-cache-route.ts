import * as z from 'zod/mini'
import type { BlockCache } from '../comments/block-cache.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { requireCapability } from '../middleware/require-capability.ts'
import { RestError } from '../middleware/rest-error.ts'
import { type RestRoute, restRoute } from './rest-route.ts'

/** Clears the block cache of the lazy comments. */
export function commentsCacheRoute(cache: BlockCache, hooks: Hooks): RestRoute {
  return restRoute({
    methods: ['DELETE'],
    path: '/lazycomments/v1/cache',
    summary: 'Clears every kept comments block.',
    // The filter has the last word, for an anonymous caller too.
    async access(caller, host) {
      const capability = await hooks.applyFilters('lazycomments_capability', 'manage_options')
      const refusal = await requireCapability(host, caller, capability).then(
        () => undefined,
        (error) => error,
      )
      if (refusal !== undefined && !(refusal instanceof RestError)) throw refusal
      if (await hooks.applyFilters('lazycomments_has_access', refusal === undefined)) return
      throw refusal ?? new RestError(403, 'rest_forbidden', 'Your account may not do that.')
    },
    schemas: () => ({ params: z.object({}), response: z.object({ success: z.boolean(), message: z.string() }) }),
    async handle() {
      await cache.flush_all()
      return { success: true, message: 'The comments cache is empty now.' }
    },
  })
}
