import { invalidOption } from '../../ground/invalid-option.ts'
import { requireMethods } from '../../ground/option-checks.ts'
import type { SiteOption } from '../../options/site-option.ts'
import { lateMethods } from '../../routes/late-routes.ts'
import type { GuardedOption } from '../../routes/resources/settings-routes.ts'
import type { CommentsParts, LoadedComments } from './create-comments.ts'
import { blockKey, COMMENTS_OPTION, type CommentSettings, type LazyComments } from './lazy-comments.ts'
import type { CommentsHost } from './theme-rendering.ts'

/** What the service uses of the lazy comments. */
export interface CommentsFeature {
  /** The public methods. */
  readonly member: LazyComments
  /** The site option that stores the settings of the lazy comments. */
  readonly option: GuardedOption
  /** Resolves to the comments, once their code is loaded. */
  loaded(): Promise<LoadedComments>
}

/**
 * Creates the lazy comments with their routes and option. Fires `lazycomments_init` in the next turn of the event loop,
 * once the application has had a chance to subscribe.
 *
 * @param load Loads the code of the comments and runs it.
 */
export function createCommentsFeature(
  parts: CommentsParts,
  load: (parts: CommentsParts) => Promise<LoadedComments>,
): CommentsFeature {
  checkCommentsHost(parts.host)
  // Load the code now, before an in-place update can remove its file.
  const loading = load(parts)
  loading.catch(() => {})
  const late = <T extends object>(pick: (comments: LazyComments) => T, names: readonly (keyof T & string)[]) =>
    lateMethods(async () => pick((await loading).member), names)

  const option: SiteOption<CommentSettings> = {
    ...late(({ settings }) => settings.option, ['get', 'sources', 'update', 'check', 'reset']),
    name: COMMENTS_OPTION,
    rest: true,
  }
  const settings = { ...late(({ settings }) => settings, ['get', 'all', 'set', 'update', 'reset']), option }
  const cache = { ...late(({ cache }) => cache, ['get', 'set', 'remember', 'flush_all']), key: blockKey }
  const methods = ['render', 'placeholder', 'script', 'themeSwitched', 'activate', 'deactivate'] as const
  const member: LazyComments = { ...late((comments) => comments, methods), settings, cache }
  setImmediate(() => void parts.hooks.doAction('lazycomments_init', member))
  return {
    member,
    option: {
      option: option as SiteOption,
      require: async (caller) => (await loading).requireAccess(caller),
    },
    loaded: () => loading,
  }
}

const NEEDED = ['find', 'id', 'url', 'isPublic', 'countComments'] as const
const OPTIONAL = ['hasPassword', 'isLocked'] as const

/**
 * Checks at startup that the posts and the theme have all required methods.
 *
 * @throws SessmgrError `invalid_option` that names the missing method.
 */
function checkCommentsHost({ posts, theme }: CommentsHost): void {
  requireMethods('host.posts', posts, [...NEEDED, ...OPTIONAL.filter((name) => posts[name] !== undefined)])
  const methods = theme as unknown as Readonly<Record<string, unknown>>
  const has = (name: string) => typeof methods[name] === 'function'
  if (typeof theme === 'function' || has('renderComments') || (has('template') && has('renderBlock'))) return
  throw invalidOption(
    '"host.theme" must have renderComments(), or template() and renderBlock(), or be a function that returns a theme',
  )
}
