import * as z from 'zod/mini'
import { type RestRoute, restRoute } from '../../routes/rest-route.ts'
import { orCatalogueRefusal } from './addon-refusal.ts'
import { addonRowSchema } from './addon-schema.ts'
import type { Addons } from './addons.ts'

const schemas = () => ({
  params: z.object({}),
  response: z.object({ items: z.array(addonRowSchema), age: z.optional(z.int()) }),
})

/** Gives the routes of the add-on catalogue. */
export function addonsRoutes(addons: Addons): readonly RestRoute[] {
  return [
    restRoute({
      methods: ['GET'],
      path: '/sessmgr/v1/addons',
      summary: 'Lists the add-on catalogue. "age", in seconds, is there when the provider gives no newer list.',
      access: 'manage_options',
      schemas,
      handle: () => orCatalogueRefusal(addons.list()),
    }),
    restRoute({
      methods: ['POST'],
      path: '/sessmgr/v1/addons/refresh',
      summary:
        'Asks the licensing provider for the add-on catalogue. When it fails, the last list is returned with its age.',
      access: 'manage_options',
      schemas,
      handle: () => orCatalogueRefusal(addons.refresh()),
    }),
  ]
}
