export type { DocumentStoreOptions } from './stores/document/document-store.ts'
export { type PostgresPool, type PostgresStoreOptions, postgresStore } from './stores/postgres-store.ts'
