import { type Logger, warn } from '../ground/logger.ts'
import type { LabelLimits } from '../limiter/decision/label-group.ts'
import type { CodeSettings } from '../options/setting-rules.ts'

/** Warns if the default of `maximum` leaves no room for the limits of labels. */
export function warnOfDefaultMaximum(
  labels: LabelLimits | undefined,
  { maximum }: Pick<CodeSettings, 'maximum'>,
  logger: Logger,
): void {
  if (!labels || maximum !== undefined) return
  const sum = Object.values(labels.limits).reduce((total, limit) => total + limit, 0)
  if (sum < 2) return
  warn(
    logger,
    'limits-without-maximum',
    'The option limits has no effect beyond one session: the default of the setting maximum allows each user one in ' +
      `all. Set it too: sessmgr({ settings: { maximum: ${sum} } }).`,
  )
}
