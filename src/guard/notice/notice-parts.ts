import type { SiteSecrets } from '../../auth/site-secrets.ts'
import type { TextsFor } from '../../texts/texts-for.ts'

/**
 * Name of the cookie that keeps a notice until a page shows it, and for other tabs after that. The prefix `__Host-` is
 * added where possible.
 */
export const NOTICE_COOKIE = 'sessmgr_notice'

export interface NoticeParts {
  readonly siteSecrets: Pick<SiteSecrets, 'all'>
  readonly textsFor: TextsFor
  /** URL of the page where users change their password. */
  readonly securityUrl: string | undefined
}

/** Sets the notice cookie, unless the response already shows the notice. Call it before the headers are sent. */
export type KeepNotice = () => void
