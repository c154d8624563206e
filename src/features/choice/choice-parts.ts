import type { Nonces } from '../../auth/nonce.ts'
import type { Logger } from '../../ground/logger.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import type { DeviceCookies } from '../../guard/request/device-cookies.ts'
import type { Host } from '../../host/host.ts'
import type { FindSignedIn } from '../../host/signed-in-user.ts'
import type { LoginAttempt } from '../../limiter/decision/login-attempt.ts'
import type { LoginPreview } from '../../limiter/decision/preview-login.ts'
import type { SessionManager } from '../../limiter/manage-sessions.ts'
import type { SettingsService } from '../../options/session-settings.ts'
import type { SessmgrStore } from '../../stores/store.ts'
import type { TextsFor } from '../../texts/texts-for.ts'
import type { ResolvedChoiceOptions } from './resolve-choice-options.ts'

export interface ChoiceParts {
  readonly options: ResolvedChoiceOptions
  readonly store: SessmgrStore
  readonly settings: SettingsService
  readonly sessions: Pick<SessionManager, 'end'>
  readonly host: Host | undefined
  readonly findSignedIn: FindSignedIn
  readonly site: { readonly title?: string | undefined } | undefined
  readonly textsFor: TextsFor
  readonly logger: Logger
  readonly nonces: Nonces
  /** Loads the code that recognizes browsers. Undefined without the option `device`. */
  readonly devices: (() => Promise<DeviceCookies>) | undefined
  /** Decides on a login without performing it. */
  preview(attempt: LoginAttempt): Promise<LoginPreview>
  /** Called for each request for the page. */
  notePage(request: HostRequest): void
}
