import { withDeadline } from '../../../ground/deadline.ts'
import { SessmgrError } from '../../../ground/errors.ts'
import { COMMENT_DEFAULTS, type CommentSettings, type CommentSettingsService } from '../comment-settings.ts'

/**
 * Makes the reader of the settings that views use: a page shows its comments also while the store is down.
 *
 * Then the settings are those that were last read here, or the defaults.
 *
 * @param patienceMs Milliseconds after which the store counts as down.
 */
export function knownSettings(settings: CommentSettingsService, patienceMs: number): () => Promise<CommentSettings> {
  let known = COMMENT_DEFAULTS
  const tooSlow = () => new SessmgrError('store_unavailable', 'The settings of the comments cannot be read just now.')

  return async () => {
    try {
      known = await withDeadline(settings.all(), patienceMs, tooSlow)
    } catch (error) {
      // A filter that fails is a fault of the application, which must not go unseen.
      if (!(error instanceof SessmgrError && error.code === 'store_unavailable')) throw error
    }
    return known
  }
}
