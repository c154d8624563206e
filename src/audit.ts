export type { AuditEvent, AuditPage, AuditQuery, AuditSink, AuditType } from './features/activity/audit-event.ts'
export type { AuditOptions } from './features/activity/resolve-audit-options.ts'
export { type MemorySinkOptions, memorySink } from './features/activity/sinks/memory-sink.ts'
