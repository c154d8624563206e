import type { Nonces } from '../../auth/nonce.ts'
import type { SignedValues } from '../../auth/signed-value.ts'
import type { Logger } from '../../ground/logger.ts'
import type { HostRequest } from '../../guard/host-types.ts'
import type { Reader } from '../../routes/caller.ts'
import type { TextsFor } from '../../texts/texts-for.ts'
import type { OwnSessionsParts } from './own-sessions.ts'
import type { ResolvedAccountOptions } from './resolve-account-options.ts'
import type { StepUpParts } from './step-up.ts'

export interface AccountParts extends OwnSessionsParts, StepUpParts {
  readonly options: ResolvedAccountOptions
  readonly site: { readonly url: string; readonly title?: string | undefined } | undefined
  readonly textsFor: TextsFor
  readonly logger: Logger
  readonly nonces: Nonces
  readonly signed: SignedValues
  /** Returns the session of a request and its user. */
  readerOf(request: HostRequest): Reader | undefined
  /** Checks whether the session of a request is still live. */
  isLive(reader: Reader): Promise<boolean>
  /** Called for each request for the page. */
  notePage(request: HostRequest): void
}
