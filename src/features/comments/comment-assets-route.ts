import * as z from 'zod/mini'
import { RestAnswer } from '../../routes/rest-answer.ts'
import { RestError } from '../../routes/rest-error.ts'
import { restRoute } from '../../routes/rest-route.ts'
import { commentAssets } from './comment-assets.ts'

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
