import * as z from 'zod/mini'
import { withDeadline } from '../../ground/deadline.ts'
import { RETRY_SOON } from '../../ground/errors.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import type { Caller } from '../../routes/caller.ts'
import { RestAnswer } from '../../routes/rest-answer.ts'
import { RestError } from '../../routes/rest-error.ts'
import { type RestRoute, restRoute } from '../../routes/rest-route.ts'
import type { CommentRendering } from './rendering/comment-rendering.ts'

const SHARED = 'public, max-age=60, s-maxage=300, stale-while-revalidate=600, stale-if-error=86400'
const MISSING = 'public, max-age=0, s-maxage=10'
const PRIVATE = 'private, no-store'
const NOTHING = JSON.stringify({ html: '' })

const POST_ID = `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`

const postId = z.string('must be given once').check(
  z.regex(/^[1-9]\d{0,15}$/, POST_ID),
  z.refine((text) => Number.isSafeInteger(Number(text)), POST_ID),
)

/** What the route works with. */
export interface CommentsRouteParts {
  readonly rendering: CommentRendering
  readonly nonceHeader: string
  readonly deadlineMs: number
  /** Whether the site has several languages, which the theme may tell by the request too. */
  readonly varies: boolean
  /** Tells whether a request comes from somebody who is signed in, with a nonce or without. */
  isSignedIn(request: HostRequest): boolean
}

/** Gives the rendered comments of a post, to everybody. */
export function commentsRoute(parts: CommentsRouteParts): RestRoute {
  const { rendering, nonceHeader, deadlineMs, isSignedIn } = parts
  const vary = `Accept-Encoding, ${parts.varies ? 'Accept-Language, ' : ''}Cookie, ${nonceHeader}`

  /**
   * The theme sees the request. Once that has a cookie, the markup may hold what belongs to this reader, signed in or
   * not: a name that was remembered, a token of their session.
   */
  const isForOne = (request: HostRequest, caller: Caller | undefined) =>
    caller !== undefined ||
    isSignedIn(request) ||
    request.headers.cookie !== undefined ||
    request.headers.authorization !== undefined ||
    request.sessmgr?.ended !== undefined

  return restRoute<{ post_id: string }>({
    methods: ['GET'],
    path: '/lazycomments/v1/comments',
    summary: 'Gives the rendered comments of a post that everybody may see.',
    access: undefined,
    schemas: () => ({ params: z.object({ post_id: postId }), response: z.object({ html: z.string() }) }),
    async handle({ params, request, caller }) {
      const isPrivate = isForOne(request, caller)
      const answering = rendering.answer(
        Number(params.post_id),
        { request, userId: caller?.userId },
        isPrivate ? undefined : sharedBy(request),
      )
      const tooSlow = () =>
        new RestError(503, 'rest_unavailable', 'The comments take too long. Try again.', { headers: RETRY_SOON })
      const answer = await withDeadline(answering, deadlineMs, tooSlow)
      const headers = {
        Vary: vary,
        'Cache-Control': cacheControl(isPrivate, answer.found ? answer.isPublic : 'missing'),
      }
      if (!answer.found) return new RestAnswer(NOTHING, { status: 404, headers })
      const { json, etag: ETag } = answer.body
      const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
      if (known?.some((tag) => tag === ETag || tag === '*')) {
        return new RestAnswer('', { status: 304, headers: { ...headers, ETag } })
      }
      return new RestAnswer(json, { headers: { ...headers, ETag } })
    },
  })
}

/** What the markup may depend on without a cookie: the site, where one process serves several, and the language. */
const sharedBy = ({ headers }: HostRequest) =>
  JSON.stringify([headers.host ?? headers[':authority'], headers['accept-language']])

function cacheControl(isPrivate: boolean, isPublic: boolean | 'missing'): string {
  if (isPrivate || isPublic === false) return PRIVATE
  return isPublic === 'missing' ? MISSING : SHARED
}
