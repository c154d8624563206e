export type { ApplicationPasswords, PasswordInfo } from './auth/application-passwords.ts'
export type { RequestState } from './door/host-types.ts'
export type { SignedOutBody, SignedOutNotice } from './door/notice/notice.ts'
export type { RequestLike, ResponseLike } from './door/request/visit.ts'
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
export type { AuditOptions } from './features/activity/resolve-audit-options.ts'
export type { AddonList, Addons } from './features/addons/addons.ts'
export {
  type AddonCode,
  type LicensingCode,
  LicensingError,
  type LicensingProvider,
  type SiteOptions,
} from './features/addons/licensing.ts'
export type { AdminOptions, SupportLinks } from './features/admin/resolve-admin-options.ts'
export type {
  BlockCache,
  CommentSettings,
  CommentSettingsService,
  LazyComments,
} from './features/comments/lazy-comments.ts'
export type {
  AccountOptions,
  ChoiceCooldown,
  ChoiceField,
  ChoiceOptions,
  FormFields,
  ShowOptions,
  StepUpOptions,
  VerifyChoice,
} from './features/pages/page-options.ts'
export type {
  AccountDevices,
  AccountRow,
  AccountView,
  ChoiceDevices,
  ChoiceProblem,
  ChoiceRow,
  ChoiceView,
  PageResult,
} from './features/pages/page-views.ts'
export type { Clock } from './ground/clock.ts'
export { type ChoosableSession, type LoginChoice, SessmgrError, type SessmgrErrorCode } from './ground/errors.ts'
export type { Logger } from './ground/logger.ts'
export type { UserId } from './ground/user-id.ts'
export type { AddonRegistration, AddonRow, CliCall, CliCommand, CliCommands, CliGroup } from './hooks/addon-types.ts'
export type { ActionMap, FilterMap, FilterShape, HookBus, HookEntry } from './hooks/bus.ts'
export type { CommentActions, CommentFilters } from './hooks/comment-hooks.ts'
export { type Hooks, hookCatalogue } from './hooks/hooks.ts'
export type {
  LimitReport,
  LogicCatalogue,
  LoginRefusal,
  NewDevice,
  SessionActions,
  SessionFilters,
  SessionStart,
  StolenSession,
} from './hooks/session-hooks.ts'
export type { SessionLifeOptions } from './hooks/session-life.ts'
export type {
  Block,
  BlockTheme,
  ClassicTheme,
  Host,
  HostPosts,
  HostUsers,
  PasswordAttempt,
  PasswordAttempts,
  RenderContext,
  Theme,
  UserSummary,
} from './host/host.ts'
export type { ExplainedSession, ExplainOptions, LimitExplanation } from './limiter/decision/explain-login.ts'
export type { LabelledClient } from './limiter/decision/label-group.ts'
export type { LoginAnswer, LoginContext, LoginOption } from './limiter/decision/login-option.ts'
export type { ErasedUser } from './limiter/ending/erase-user.ts'
export type { EndedSessions, SessionManager, SessionPage } from './limiter/manage-sessions.ts'
export type { ChangedByWhom } from './options/option-change.ts'
export type { OptionDefinition, OptionRegistry, OptionSchema } from './options/option-registry.ts'
export type { SettingsService } from './options/session-settings.ts'
export type { CodeSettings, SessionSettings } from './options/setting-rules.ts'
export type { OptionSources, SiteOption } from './options/site-option.ts'
export type { DeviceCookieOption, SessmgrOptions } from './service/resolve-options.ts'
export type { Middleware, Sessmgr } from './service/service.ts'
export { sessmgr } from './service/sessmgr.ts'
export { type DeviceKind, type DeviceName, deviceName } from './sessions/device.ts'
export type { EndedByWhom, EndedCause, EndedKind, SessionEnd, SignedOutReason } from './sessions/session-end.ts'
export { type SessionRecord, type Token, tokenOf } from './sessions/session-record.ts'
export type { Frequency } from './sessions/user-state.ts'
export { memoryStore } from './stores/memory-store.ts'
export type { SessmgrStore } from './stores/store.ts'
export type { LimitAction, LimitContext, LimitDecision, LimitStrategy } from './strategies/limit-strategy.ts'
export type { LogicModes } from './strategies/logic-catalogue.ts'
export type { ReaderTime } from './texts/reader-times.ts'
export { type TextKey, type Texts, textCatalogue } from './texts/text-catalogue.ts'
export type { Say, TextsOption } from './texts/texts-for.ts'
