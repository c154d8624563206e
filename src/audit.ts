export type { AuditEvent, AuditPage, AuditQuery, AuditSink, AuditType } from './features/activity/audit-event.ts'
export {
  type CaepOptions,
  type OcsfEvent,
  type SecurityEventClaims,
  type SignEventOptions,
  signEvent,
  toCaep,
  toOcsf,
} from './features/activity/formats.ts'
export type { AuditOptions } from './features/activity/resolve-audit-options.ts'
export { type JsonLinesSinkOptions, jsonLinesSink } from './features/activity/sinks/json-lines-sink.ts'
export { type MemorySinkOptions, memorySink } from './features/activity/sinks/memory-sink.ts'
export { type RedisStreamSinkOptions, redisStreamSink } from './features/activity/sinks/redis-stream-sink.ts'
export { type SqlSinkOptions, sqlSink } from './features/activity/sinks/sql-sink.ts'
export type { PostgresPool } from './stores/postgres-store.ts'
export type { RedisClient, ScriptArguments } from './stores/redis/redis-client.ts'
export type { SqliteDatabase, SqliteStatement } from './stores/sqlite-connection.ts'
