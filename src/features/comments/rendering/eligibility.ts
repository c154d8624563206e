import type { CommentSettings } from '../comment-settings.ts'

/** What the choice between lazy and inline depends on. */
export interface ViewFacts {
  /** Whether the page shows only this post. */
  readonly single: boolean
  /** Number of approved comments on the post. */
  readonly count: number
  readonly userAgent: string | undefined
}

/** Decides, before any filter, whether the comments of a view load lazily. */
export async function canLazyLoad(
  settings: CommentSettings,
  { single, count, userAgent }: ViewFacts,
): Promise<boolean> {
  if (settings.load_method === 'off') return false
  if (!single) return false
  if (count < Math.max(1, settings.minimum_count)) return false
  return !(settings.disable_for_bots && (await isBot(userAgent)))
}

/** Loaded by the first page view, because applications without posts do not need it. */
let detection: Promise<typeof import('isbot')> | undefined

/** Checks for a bot. A client without a user agent counts as a bot. */
async function isBot(userAgent: string | undefined): Promise<boolean> {
  if (userAgent === undefined || userAgent.trim() === '') return true
  detection ??= import('isbot')
  return (await detection).isbot(userAgent)
}
