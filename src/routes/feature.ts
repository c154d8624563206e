import type { RestRoute } from './rest-route.ts'
import type { GuardedOption } from './settings/option-access.ts'

/** A part of the service beside the session limit: the service wires each in the same way. */
export interface Feature<Member> {
  readonly routes: readonly RestRoute[]
  /** What the service offers of it. */
  readonly member: Member
  /** The option of the site that it keeps its settings in. */
  readonly option?: GuardedOption
}
