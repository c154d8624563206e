import { invalidOption } from '../../ground/invalid-option.ts'
import { requireMethods } from '../../ground/option-checks.ts'
import type { CommentsHost } from './rendering/theme-rendering.ts'

const NEEDED = ['find', 'id', 'url', 'isPublic', 'countComments'] as const
const OPTIONAL = ['hasPassword', 'isLocked'] as const

/**
 * Checks at startup that the posts and the theme have all required methods.
 *
 * @throws SessmgrError `invalid_option` that names the missing one.
 */
export function checkCommentsHost({ posts, theme }: CommentsHost): void {
  requireMethods('host.posts', posts, [...NEEDED, ...OPTIONAL.filter((name) => posts[name] !== undefined)])
  const methods = theme as unknown as Readonly<Record<string, unknown>>
  const has = (name: string) => typeof methods[name] === 'function'
  if (typeof theme === 'function' || has('renderComments') || (has('template') && has('renderBlock'))) return
  throw invalidOption(
    '"host.theme" must have renderComments(), or template() and renderBlock(), or be a function that returns a theme',
  )
}
