import type { UserId } from '../../../ground/user-id.ts'
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

/** Checks whether an event is about or by a user, and from before a time. */
export function isOf({ user, actor, at }: AuditEvent, whom: UserId, before = Number.POSITIVE_INFINITY): boolean {
  return (user === whom || actor === whom) && at < before
}

const NAME = 'InvalidCursor'

/** Refuses a cursor that the sink cannot have returned. */
export function checkCursor(cursor: string | undefined, pattern: RegExp): void {
  if (cursor === undefined || pattern.test(cursor)) return
  throw Object.assign(new Error('"cursor" must be the `next` of a page'), { name: NAME })
}

/** Checks whether a sink, or the deadline around it, has failed because of the cursor. */
export function isInvalidCursor(error: unknown): boolean {
  const { name, cause } = (error ?? {}) as { name?: unknown; cause?: { name?: unknown } | undefined }
  return name === NAME || cause?.name === NAME
}
