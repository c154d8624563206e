import { isbot } from 'isbot'
import type { CommentSettings } from './comment-settings.ts'

/** What the decision between lazy and inline looks at. */
export interface ViewFacts {
  /** Whether the page shows this one post. */
  readonly single: boolean
  /** Approved comments of the post. */
  readonly count: number
  readonly userAgent: string | undefined
}

/** Decides, before any filter, whether the comments of a view load lazily. Asks for as little as it takes. */
export function canLazyLoad(settings: CommentSettings, { single, count, userAgent }: ViewFacts): boolean {
  if (settings.load_method === 'off') return false
  if (!single) return false
  if (count < Math.max(1, settings.minimum_count)) return false
  return !(settings.disable_for_bots && isBot(userAgent))
}

/** Who does not say what it is, is a bot. */
function isBot(userAgent: string | undefined): boolean {
  return userAgent === undefined || userAgent.trim() === '' || isbot(userAgent)
}
