import type { AuditEvent } from '../../src/audit.ts'
import { eventId } from '../../src/features/activity/event-of.ts'

/** Creates an event at a time, by default the start of a session of user 7. Events without a type are about a user. */
export function auditEvent(at: number, fields: Partial<AuditEvent> = {}): AuditEvent {
  const user = fields.type === undefined ? { user: 7 } : {}
  return { id: eventId(at), at, type: 'session.started', initiator: 'user', ...user, ...fields }
}
