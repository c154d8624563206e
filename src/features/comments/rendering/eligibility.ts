import type { CommentSettings } from '../comment-settings.ts'

/** What the decision between lazy and inline looks at. */
export interface ViewFacts {
  /** Whether the page shows this one post. */
  readonly single: boolean
  /** Approved comments of the post. */
  readonly count: number
  readonly userAgent: string | undefined
}

/** Decides, before any filter, whether the comments of a view load lazily. Asks for as little as it takes. */
export async function canLazyLoad(
  settings: CommentSettings,
  { single, count, userAgent }: ViewFacts,
): Promise<boolean> {
  if (settings.load_method === 'off') return false
  if (!single) return false
  if (count < Math.max(1, settings.minimum_count)) return false
  return !(settings.disable_for_bots && (await isBot(userAgent)))
}

/** Loaded by the first page that asks: an application without posts does without. */
let detection: Promise<typeof import('isbot')> | undefined

/** Who does not say what it is, is a bot. */
async function isBot(userAgent: string | undefined): Promise<boolean> {
  if (userAgent === undefined || userAgent.trim() === '') return true
  detection ??= import('isbot')
  return (await detection).isbot(userAgent)
}
