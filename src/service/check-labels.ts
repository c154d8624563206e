import { invalidOption } from '../ground/invalid-option.ts'
import { inWords, nearestName, requireObject } from '../ground/option-checks.ts'
import type { LabelLimits } from '../limiter/decision/label-group.ts'
import { A_MAXIMUM, isMaximum } from '../options/setting-rules.ts'

/** The labels of sessions unless the application has its own. */
const LABELS = ['desktop', 'mobile']

/**
 * Checks the options `limits` and `labelOf`. Returns undefined if there are no limits for labels.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function checkLabels(
  { limits, labelOf }: { readonly limits?: unknown; readonly labelOf?: unknown },
  deadlineMs: number,
): LabelLimits | undefined {
  if (labelOf !== undefined && typeof labelOf !== 'function') {
    throw invalidOption(`"labelOf" must be a function such as ({ userAgent }) => 'desktop'; got ${inWords(labelOf)}`)
  }
  if (limits === undefined) {
    if (labelOf) throw invalidOption('"labelOf" has no effect without "limits", such as { desktop: 1 }')
    return undefined
  }
  requireObject('"limits"', limits)
  for (const [label, limit] of Object.entries(limits as object)) {
    if (!labelOf && !LABELS.includes(label)) {
      const rule = `"limits.${label}" has no effect: without "labelOf", the labels are ${LABELS.join(' and ')}`
      throw invalidOption(rule, nearestName(label, LABELS))
    }
    if (!isMaximum(limit)) throw invalidOption(`"limits.${label}" must be ${A_MAXIMUM}; got ${inWords(limit)}`)
  }
  const own = typeof labelOf === 'function' ? { labelOf: labelOf as NonNullable<LabelLimits['labelOf']> } : {}
  return { limits: { ...(limits as LabelLimits['limits']) }, ...own, deadlineMs }
}
