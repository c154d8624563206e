export type { DocumentStoreOptions } from './stores/document/document-store.ts'
export type { PostgresPool } from './stores/postgres/postgres-driver.ts'
export { type PostgresStoreOptions, postgresStore } from './stores/postgres/postgres-store.ts'
