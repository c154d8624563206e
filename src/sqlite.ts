export type { DocumentStoreOptions } from './stores/document/document-store.ts'
export type { SqliteDatabase, SqliteStatement } from './stores/sqlite-connection.ts'
export { type SqliteStoreOptions, sqliteStore } from './stores/sqlite-store.ts'
