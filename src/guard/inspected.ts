import type { HostSessionData, RequestState, SignedOutReason } from './host-types.ts'

/** What a session in the store turned out to be. */
export interface Inspected {
  /** The data to go on with; undefined when there is no session, or no longer. */
  readonly data?: HostSessionData
  readonly session?: NonNullable<RequestState['session']>
  readonly ended?: SignedOutReason
}
