export type { DocumentDriver, DocumentReply, DocumentRow } from './stores/document/document-driver.ts'
export { type DocumentStoreOptions, documentStore } from './stores/document/document-store.ts'
export type { SignalListener, StoreSignals } from './stores/store.ts'
