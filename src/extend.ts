export { attach } from './adapters/explicit-calls.ts'
export { readValue, signValue } from './auth/signed-value.ts'
export type { HostResponse, Next, RoutedRequest } from './door/host-types.ts'
export { asksForPage, changeCookies, LoginCookie } from './door/request/cookies.ts'
export { appendCookie, responseOf, type Visit, visitOf } from './door/request/visit.ts'
export type { SessionGuard } from './door/session-guard.ts'
export { asUnavailable } from './door/stores/store-error.ts'
export { checkCursor, isOf, pageOf, type Selection } from './features/activity/audit-event.ts'
export { AT_LIMIT, EventTally } from './features/activity/event-counts.ts'
export {
  type Activation,
  isProductId,
  type LicenseState,
  type RawAddon,
  type SiteIdentity,
} from './features/addons/licensing.ts'
export type { SessmgrErrorCode } from './ground/errors.ts'
export type { EstablishedSession } from './limiter/decision/commit-login.ts'
export { decodeEnds, type EndKind } from './limiter/ending/end-signal.ts'
export type { SessionLimiter } from './limiter/session-limiter.ts'
export { orderWarning } from './middleware/visit.ts'
export { keepCookiesOut, redirect, sendBody, sendPage } from './routes/answer.ts'
export { refuseCrossOrigin } from './routes/caller.ts'
export { mountPath, ownPath } from './routes/page-addresses.ts'
export { coreOf, type ServiceCore } from './service/service-core.ts'
export { type Login, TOKEN_PATTERN, TOKEN_SESSION } from './sessions/session-record.ts'
export type { StateChange } from './sessions/user-state.ts'
export { COLUMN_TYPES, quoteIndex, quoteName, requireTableName } from './stores/document/table-schema.ts'
export { createPostgresTable, type PostgresPool, requirePool } from './stores/postgres-store.ts'
export { SqliteConnection, type SqliteDatabase, sqliteOpener } from './stores/sqlite-connection.ts'
export type { StoreSignals } from './stores/store.ts'
export { htmlText, type Say } from './texts/texts-for.ts'
