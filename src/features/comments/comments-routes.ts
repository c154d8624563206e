import { script, style } from 'virtual:lazycomments-assets'
import * as z from 'zod/mini'
import type { RoutedRequest } from '../../door/host-types.ts'
import { ownRequestOf, visitOf } from '../../door/request/visit.ts'
import { withDeadline } from '../../ground/deadline.ts'
import { RETRY_SOON } from '../../ground/errors.ts'
import { nodeCrypto } from '../../ground/node-crypto.ts'
import { RestAnswer, RestError } from '../../routes/answer.ts'
import type { Caller } from '../../routes/caller.ts'
import type { GuardedOption } from '../../routes/resources/settings-routes.ts'
import { type RestRoute, restRoute } from '../../routes/router.ts'
import type { CommentRendering } from './comment-rendering.ts'
import type { BlockCache } from './lazy-comments.ts'

const SHARED = 'public, max-age=60, s-maxage=300, stale-while-revalidate=600, stale-if-error=86400'
const MISSING = 'public, max-age=0, s-maxage=10'
const PRIVATE = 'private, no-store'
const FOR_EVER = 'public, max-age=31536000, immutable'
const NOTHING = JSON.stringify({ html: '' })

const POST_ID = `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`

const postId = z.string('must be set exactly once').check(
  z.regex(/^[1-9]\d{0,15}$/, POST_ID),
  z.refine((text) => Number.isSafeInteger(Number(text)), POST_ID),
)

interface CommentsRoutesParts {
  readonly rendering: CommentRendering
  readonly cache: BlockCache
  /** Checks that a caller may clear the cache. */
  readonly access: GuardedOption['require']
  readonly nonceHeader: string
  readonly deadlineMs: number
  /** Checks whether a request is from a signed-in user, with or without a nonce. */
  isSignedIn(request: RoutedRequest): boolean
}

/** Returns the routes of the lazy comments. */
export function commentsRoutes(parts: CommentsRoutesParts): readonly RestRoute[] {
  return [commentsRoute(parts), cacheRoute(parts), assetsRoute]
}

/** The headers from which frameworks and themes read host, protocol and language. `Host` is part of the URL. */
const SHARED_BY = ['Accept-Language', 'X-Forwarded-Host', 'X-Forwarded-Proto']

/** Returns the public route that responds with the rendered comments of a post. */
function commentsRoute(parts: CommentsRoutesParts): RestRoute {
  const { rendering, nonceHeader, deadlineMs, isSignedIn } = parts
  const vary = ['Accept-Encoding', 'Cookie', ...SHARED_BY, nonceHeader].join(', ')

  /**
   * Checks whether the markup is for a single reader. The theme can read cookies, so the markup for a request with
   * cookies may contain personal data, such as a remembered name or a token of the session. It can also read further
   * parameters, with which anyone could make it render something else.
   */
  const isForOne = (request: RoutedRequest, caller: Caller | undefined, id: string) =>
    caller !== undefined ||
    queryOf(request) !== `post_id=${id}` ||
    isSignedIn(request) ||
    request.headers.cookie !== undefined ||
    request.headers.authorization !== undefined ||
    visitOf(request)?.sessmgr?.ended !== undefined

  return restRoute<{ post_id: string }>({
    methods: ['GET'],
    path: '/lazycomments/v1/comments',
    summary: 'Returns the rendered comments of a public post.',
    access: undefined,
    isTagged: true,
    schemas: () => ({ params: z.object({ post_id: postId }), response: z.object({ html: z.string() }) }),
    async handle({ params, request, caller }) {
      const isPrivate = isForOne(request, caller, params.post_id)
      const answering = rendering.answer(
        Number(params.post_id),
        { request: ownRequestOf(request), userId: caller?.userId },
        isPrivate ? undefined : sharedBy(request),
      )
      const tooSlow = () =>
        new RestError(503, 'rest_unavailable', 'Loading the comments took too long. Try again.', {
          headers: RETRY_SOON,
        })
      const answer = await withDeadline(answering, deadlineMs, tooSlow)
      const headers = {
        Vary: vary,
        'Cache-Control': cacheControl(isPrivate, answer.found ? answer.isPublic : 'missing'),
      }
      if (!answer.found) return new RestAnswer(NOTHING, { status: 404, headers })
      const { json, etag: ETag } = answer.body
      return new RestAnswer(json, { headers: { ...headers, ETag } })
    },
  })
}

const queryOf = ({ url = '' }: RoutedRequest) => url.slice(url.indexOf('?') + 1)

/**
 * Identifies the readers who share a rendering: those who would get the same response from a shared cache, and for whom
 * the framework reads the same host and protocol. It may trust the headers of one client, but not those of another.
 */
function sharedBy(request: RoutedRequest): string {
  const { headers, url, originalUrl = url, socket } = request
  const own = Object(ownRequestOf(request)) as Readonly<Record<'url' | 'protocol' | 'hostname', unknown>>
  const read = ['host', ':authority', ...SHARED_BY].map((name) => headers[name.toLowerCase()])
  return JSON.stringify([originalUrl, own.url, read, own.protocol, own.hostname, socket.encrypted])
}

function cacheControl(isPrivate: boolean, isPublic: boolean | 'missing'): string {
  if (isPrivate || isPublic === false) return PRIVATE
  return isPublic === 'missing' ? MISSING : SHARED
}

/** Returns the route that clears the block cache of the lazy comments. */
function cacheRoute({ cache, access }: CommentsRoutesParts): RestRoute {
  return restRoute({
    methods: ['DELETE'],
    path: '/lazycomments/v1/cache',
    summary: 'Clears the cache of comments blocks.',
    access,
    schemas: () => ({ params: z.object({}), response: z.object({ success: z.boolean(), message: z.string() }) }),
    async handle() {
      await cache.flush_all()
      return { success: true, message: 'The comments cache has been cleared.' }
    },
  })
}

/** A file for the browser. Its name changes with its content, so browsers may cache it forever. */
class HashedAsset {
  readonly type: string
  readonly text: string
  readonly #extension: string
  #name: string | undefined

  constructor(text: string, extension: string, type: string) {
    this.text = text
    this.#extension = extension
    this.type = type
  }

  /** The name, hashed on demand, because Node's first hash would delay every start by milliseconds. */
  get name(): string {
    this.#name ??= `${nodeCrypto().createHash('sha256').update(this.text).digest('hex').slice(0, 16)}.${this.#extension}`
    return this.#name
  }
}

/** The script and the style of the lazy comments. */
export const commentAssets = {
  script: new HashedAsset(script, 'js', 'text/javascript; charset=utf-8'),
  style: new HashedAsset(style, 'css', 'text/css; charset=utf-8'),
}

/** The route that responds with the script or the style of the lazy comments. */
const assetsRoute = restRoute<{ name: string }>({
  methods: ['GET'],
  path: '/lazycomments/v1/assets/{name}',
  summary: "Returns the lazy comments' script or style sheet.",
  access: undefined,
  mediaTypes: Object.values(commentAssets).map(({ type }) => type),
  schemas: () => ({ params: z.object({ name: z.string() }), response: z.string() }),
  async handle({ params }) {
    const asset = Object.values(commentAssets).find(({ name }) => name === params.name)
    if (!asset) throw new RestError(404, 'rest_no_route', 'This file does not exist.')
    const headers = { 'Cache-Control': FOR_EVER, 'X-Content-Type-Options': 'nosniff' }
    return new RestAnswer(asset.text, { type: asset.type, headers })
  },
})
