import { withDeadline } from '../../../ground/deadline.ts'
import { SessmgrError } from '../../../ground/errors.ts'
import { COMMENT_DEFAULTS, type CommentSettings, type CommentSettingsService } from '../comment-settings.ts'

/**
 * Returns a function that reads the settings for page views.
 *
 * While the store is down, the function returns the last known settings, or else the defaults.
 *
 * @param patienceMs Milliseconds after which the store counts as down.
 */
export function knownSettings(settings: CommentSettingsService, patienceMs: number): () => Promise<CommentSettings> {
  let known = COMMENT_DEFAULTS
  const tooSlow = () =>
    new SessmgrError('store_unavailable', 'The settings of the lazy comments cannot be read at the moment.')

  return async () => {
    try {
      known = await withDeadline(settings.all(), patienceMs, tooSlow)
    } catch (error) {
      // A failing filter is a bug in the application and must not be hidden.
      if (!(error instanceof SessmgrError && error.code === 'store_unavailable')) throw error
    }
    return known
  }
}
