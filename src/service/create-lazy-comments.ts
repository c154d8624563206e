import type { IncomingMessage } from 'node:http'
import type { ApplicationPasswords } from '../auth/application-passwords.ts'
import { SiteSecrets } from '../auth/site-secrets.ts'
import { createCommentsFeature } from '../features/comments/comments-feature.ts'
import type { LazyComments } from '../features/comments/lazy-comments.ts'
import { SessmgrError } from '../ground/errors.ts'
import { requireKnown } from '../ground/option-checks.ts'
import { refuseRequest, requireRequest } from '../ground/request-checks.ts'
import type { HostRequest } from '../guard/host-types.ts'
import type { RequestLike } from '../guard/request/host-visit.ts'
import { createHooks, type Hooks } from '../hooks/hooks.ts'
import type { Host } from '../host/host.ts'
import type { HostPosts } from '../host/posts.ts'
import type { Theme } from '../host/theme.ts'
import { tokenOf } from '../sessions/token.ts'
import { resolveOptions, type SessmgrOptions } from './resolve-options.ts'
import { createRestService } from './rest-service.ts'
import type { Middleware } from './service.ts'

/** What the application tells of itself: its posts and its theme, and its users if it has any. */
export interface LazyCommentsHost<User = unknown, Post = unknown> extends Partial<Host<User, Post>> {
  /** The application's posts. */
  readonly posts: HostPosts<Post>
  /** How the application renders comments, for all posts or for each. */
  readonly theme: Theme<Post> | ((post: Post) => Theme<Post>)
  /** Tells whether a user may do something. @default nobody may: the comments cache cannot be cleared over REST */
  can?: Host<User, Post>['can']
}

type Shared = 'store' | 'secret' | 'restPath' | 'nonceHeader' | 'deadlineMs' | 'texts' | 'logger'

/** Options of the lazy comments where sessmgr() itself is not used; those it shares mean the same. */
export interface LazyCommentsOptions extends Pick<SessmgrOptions, Shared> {
  /** What the application tells of itself. */
  // biome-ignore lint/suspicious/noExplicitAny: the host alone knows the types of its users and posts.
  host: LazyCommentsHost<any, any>
  /** Bus that carries the hooks. @default one of its own */
  hooks?: Hooks | undefined
  /** Tells the signed-in user of a request. @default request.user, as Passport leaves it */
  user?: ((request: IncomingMessage) => unknown) | undefined
}

/** The lazy comments, and what else an application needs to use them alone. */
export interface StandaloneComments extends LazyComments {
  /** The bus that carries the hooks: the one that was given, or one of its own. */
  readonly hooks: Hooks
  /** Creates, lists, revokes and checks the passwords by which scripts may empty the cache over REST. */
  readonly passwords: ApplicationPasswords
  /**
   * Makes the nonce that a page of this request's user sends along with its REST calls. Undefined for a guest.
   *
   * It is valid for 12 to 24 hours.
   *
   * @throws SessmgrError `store_unavailable`, unless the option `secret` is given; `invalid_option` without a request.
   */
  nonce(request: IncomingMessage): Promise<string | undefined>
  /**
   * Makes the middleware of the two routes and of script and style, to mount below a path: `app.use('/api', comments.router())`.
   *
   * It stands after whatever tells who is signed in.
   */
  router(): Middleware
}

const OPTIONS = [
  'host',
  'hooks',
  'user',
  'store',
  'secret',
  'restPath',
  'nonceHeader',
  'deadlineMs',
  'texts',
  'logger',
] as const satisfies readonly (keyof LazyCommentsOptions)[]

const passportUser = (request: IncomingMessage): unknown => (request as HostRequest).user

const nobody = () => undefined

/** Stands for the users of an application that has none: nobody may clear the cache over REST. */
const WITHOUT_USERS: Host = {
  users: {
    findById: nobody,
    findByEmail: nobody,
    findByLogin: nobody,
    summary: () => ({ id: 0, login: '', display_name: '' }),
  },
  can: () => false,
}

/**
 * Creates the lazy comments without the session limit. With it they are there already, as `limiter.comments`.
 *
 * @throws SessmgrError `invalid_option` for an unknown or invalid option.
 * @example
 * const comments = createLazyComments({ host: { posts, theme } })
 * app.use('/api', comments.router())
 */
export function createLazyComments(options: LazyCommentsOptions): StandaloneComments {
  refuseRequest(options, 'createLazyComments({ host })')
  requireKnown(options ?? {}, OPTIONS)
  const { host: given, hooks: bus, user: userOf = passportUser, ...shared } = options ?? {}
  if (typeof given?.posts?.find !== 'function' || !given.theme) {
    throw new SessmgrError(
      'invalid_option',
      '"host" must tell of the posts and their theme: createLazyComments({ host: { posts, theme } }).',
    )
  }
  if (typeof userOf !== 'function') {
    throw new SessmgrError('invalid_option', '"user" must be a function such as (request) => request.user.')
  }
  const { users = WITHOUT_USERS.users, can = WITHOUT_USERS.can } = given
  const resolved = resolveOptions({ ...shared, host: { ...given, users, can } })
  const host = resolved.host as Host
  const { store, logger, deadlineMs } = resolved
  const hooks = bus ?? createHooks({ logger, deadlineMs })
  const readerOf = (request: RequestLike) => {
    const user = userOf(request as HostRequest) ?? undefined
    if (user === undefined || !given.users) return undefined
    // Where there is no session id, the nonce is valid for the user wherever they are signed in.
    return { userId: host.users.summary(user).id, token: tokenOf((request as HostRequest).sessionID ?? '') }
  }
  // The session, if there is one, is the application's own affair.
  const isLive = async () => true
  const rest = createRestService(resolved, new SiteSecrets(store.options, resolved.secrets), { readerOf, isLive })
  const comments = createCommentsFeature({
    ...resolved,
    ...rest,
    host: { posts: given.posts, theme: given.theme, can: host.can },
    hooks,
    // Also where the application tells of no users: its theme could look at the request.
    isSignedIn: (request) => (userOf(request) ?? undefined) !== undefined,
  })
  return Object.assign(comments.member, {
    hooks,
    passwords: rest.passwords,
    router(mistaken?: unknown) {
      refuseRequest(mistaken, 'comments.router()')
      return rest.router(async (parts) => {
        const [{ createRouter }, { commentsRoutes }] = await Promise.all([
          import('../routes/router.ts'),
          import('../features/comments/comments-routes.ts'),
        ])
        return createRouter({ ...parts, routes: commentsRoutes(comments.routeParts) })
      })
    },
    async nonce(request: IncomingMessage) {
      requireRequest(request, 'comments.nonce(request)')
      return rest.nonceOf(request)
    },
  })
}
