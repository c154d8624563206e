import type { ApplicationPasswords } from '../auth/application-passwords.ts'
import type { HostRequest } from '../door/host-types.ts'
import { ownRequestOf, type RequestLike } from '../door/request/visit.ts'
import { createCommentsFeature } from '../features/comments/comments-feature.ts'
import type { LazyComments } from '../features/comments/lazy-comments.ts'
import { SessmgrError } from '../ground/errors.ts'
import { refuseRequest, requireKnown, requireRequest } from '../ground/option-checks.ts'
import { createHooks, type Hooks } from '../hooks/hooks.ts'
import type { Host, HostPosts, Theme } from '../host/host.ts'
import { tokenOf } from '../sessions/session-record.ts'
import { resolveOptions, type SessmgrOptions, withSecrets } from './resolve-options.ts'
import { createRestService, WITHOUT_USERS } from './rest-service.ts'
import type { Middleware } from './service.ts'

/** Your application's posts and theme, and its users if it has any. */
export interface LazyCommentsHost<User = unknown, Post = unknown> extends Partial<Host<User, Post>> {
  /** Your application's posts. */
  readonly posts: HostPosts<Post>
  /** How your application renders comments, for all posts or for each one. */
  readonly theme: Theme<Post> | ((post: Post) => Theme<Post>)
  /**
   * Checks whether a user has a capability. @default no user has any, so the comments cache cannot be cleared over REST
   */
  can?: Host<User, Post>['can']
}

type Shared = 'store' | 'secret' | 'restPath' | 'nonceHeader' | 'deadlineMs' | 'texts' | 'logger'

/** Options of createLazyComments(). Options that sessmgr() also has mean the same here. */
export interface LazyCommentsOptions extends Pick<SessmgrOptions, Shared> {
  /** Your application's posts, theme and users. */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its users and posts.
  host: LazyCommentsHost<any, any>
  /** The `Hooks` object to use. @default a new one */
  hooks?: Hooks | undefined
  /** Returns the signed-in user of your framework's request. @default request.user, as Passport sets it */
  // biome-ignore lint/suspicious/noExplicitAny: only the application knows the type of its requests.
  user?: ((request: any) => unknown) | undefined
}

/** The lazy comments, with everything they need to work without sessmgr(). */
export interface StandaloneComments extends LazyComments {
  /** The actions and filters of the lazy comments. */
  readonly hooks: Hooks
  /** Creates, lists, revokes and checks passwords that scripts use to clear the cache over REST. */
  readonly passwords: ApplicationPasswords
  /**
   * Returns the nonce that a page of this user sends with its REST calls, or undefined for a guest.
   *
   * It is valid for 12 to 24 hours.
   *
   * @throws SessmgrError `store_unavailable`, unless the `secret` option is set; `invalid_option` if the request is
   * missing.
   */
  nonce(request: RequestLike): Promise<string | undefined>
  /**
   * Returns the middleware for the two routes, the script and the style. Mount it under a path: `app.use('/api',
   * comments.router())`.
   *
   * Mount it after the middleware that identifies the user.
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

const passportUser = (request: HostRequest): unknown => request.user

/**
 * Creates the lazy comments without the session limit. With sessmgr(), use `limiter.comments` instead.
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
      '"host" must have posts and a theme: createLazyComments({ host: { posts, theme } }).',
    )
  }
  if (typeof userOf !== 'function') {
    throw new SessmgrError('invalid_option', '"user" must be a function such as (request) => request.user.')
  }
  const { users = WITHOUT_USERS.users, can = WITHOUT_USERS.can } = given
  const { siteSecrets, ...resolved } = withSecrets(resolveOptions({ ...shared, host: { ...given, users, can } }))
  const host = resolved.host as Host
  const { logger, deadlineMs } = resolved
  const hooks = bus ?? createHooks({ logger, deadlineMs })
  const readerOf = (request: object) => {
    const own = ownRequestOf(request) as HostRequest
    const user = userOf(own) ?? undefined
    if (user === undefined || !given.users) return undefined
    // Without a session id, the nonce is valid for all of the user's sessions.
    return { userId: host.users.summary(user).id, token: tokenOf(own.sessionID ?? '') }
  }
  // The application checks its sessions itself.
  const isLive = async () => true
  const rest = createRestService(resolved, siteSecrets, { readerOf, isLive })
  const parts = {
    ...resolved,
    ...rest,
    host: { posts: given.posts, theme: given.theme, can: host.can },
    hooks,
    // Checked even if `host` has no users, because the theme could read the user from the request.
    isSignedIn: (request: object) => (userOf(ownRequestOf(request) as HostRequest) ?? undefined) !== undefined,
  }
  const comments = createCommentsFeature(parts, async (late) =>
    (await import('../features/comments/create-comments.ts')).createComments(late),
  )
  return Object.assign(comments.member, {
    hooks,
    passwords: rest.passwords,
    router(mistaken?: unknown) {
      refuseRequest(mistaken, 'comments.router()')
      return rest.router(async (parts) => {
        const { createRouter } = await import('../routes/router.ts')
        return createRouter({ ...parts, routes: (await comments.loaded()).routes })
      })
    },
    async nonce(request: RequestLike) {
      requireRequest(request, 'comments.nonce(request)')
      return rest.nonceOf(request)
    },
  })
}
