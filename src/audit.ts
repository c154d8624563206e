export { type JsonLinesSinkOptions, jsonLinesSink } from './extensions/activity-sinks/json-lines-sink.ts'
export { type SqlSinkOptions, sqlSink } from './extensions/activity-sinks/sql-sink.ts'
export type {
  AuditCountQuery,
  AuditCounts,
  AuditEvent,
  AuditPage,
  AuditPart,
  AuditQuery,
  AuditSink,
  AuditType,
  AuditUserCounts,
} from './features/activity/audit-event.ts'
export { type MemorySinkOptions, memorySink } from './features/activity/memory-sink.ts'
export type { AuditOptions } from './features/activity/resolve-audit-options.ts'
export type { PostgresPool } from './stores/postgres-store.ts'
export type { SqliteDatabase, SqliteStatement } from './stores/sqlite-connection.ts'
