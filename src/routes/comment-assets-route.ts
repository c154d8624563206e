import * as z from 'zod/mini'
import { commentAssets } from '../comments/comment-assets.ts'
import { RestError } from '../middleware/rest-error.ts'
import { RestAnswer } from './rest-answer.ts'
import { restRoute } from './rest-route.ts'

const FOR_EVER = 'public, max-age=31536000, immutable'

/** Gives the script and the style of the lazy comments. */
export const commentAssetsRoute = restRoute<{ name: string }>({
  methods: ['GET'],
  path: '/lazycomments/v1/assets/{name}',
  summary: 'Gives the script or the style of the lazy comments.',
  access: undefined,
  mediaTypes: Object.values(commentAssets).map(({ type }) => type),
  schemas: () => ({ params: z.object({ name: z.string() }), response: z.string() }),
  async handle({ params }) {
    const asset = Object.values(commentAssets).find(({ name }) => name === params.name)
    if (!asset) throw new RestError(404, 'rest_no_route', 'There is no such file.')
    const headers = { 'Cache-Control': FOR_EVER, 'X-Content-Type-Options': 'nosniff' }
    return new RestAnswer(asset.text, { type: asset.type, headers })
  },
})
