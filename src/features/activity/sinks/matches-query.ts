import type { AuditEvent, AuditQuery } from '../audit-event.ts'

/** Selects events, without a page. */
export type Selection = Omit<AuditQuery, 'limit' | 'cursor'>

/** Checks whether a selection has an event. */
export function matchesQuery({ type, user, at }: AuditEvent, selection: Selection): boolean {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = selection
  if (selection.type !== undefined && type !== selection.type) return false
  if (selection.users && (user === undefined || !selection.users.includes(user))) return false
  return at >= from && at < to
}
