import { withDeadline } from '../../ground/deadline.ts'
import { messageOf, SessmgrError } from '../../ground/errors.ts'
import { inWords } from '../../ground/option-checks.ts'
import { deviceName } from '../../sessions/device.ts'
import type { SessionRecord, Token } from '../../sessions/session-record.ts'

/** The client of a session or of a login. */
export type LabelledClient = Pick<SessionRecord, 'userAgent' | 'ip' | 'device'>

/** Limits for sessions with the same label. */
export interface LabelLimits {
  /** How many sessions each user may have, by label. */
  readonly limits: Readonly<Record<string, number>>
  /** Returns the label of a session, or undefined if it has none. @default `desktop` or `mobile` */
  readonly labelOf?: ((client: LabelledClient) => string | undefined | Promise<string | undefined>) | undefined
  /** How long an asynchronous `labelOf` may take. */
  readonly deadlineMs: number
}

/** The sessions that count toward the limit of one label. */
export interface LabelGroup {
  readonly label: string
  /** How many sessions with this label the user may have. */
  readonly maximum: number
  readonly tokens: readonly Token[]
}

/**
 * Finds the sessions that have the same label as a login. Resolves to undefined if that label has no limit.
 *
 * @throws SessmgrError `hook_failed`, `hook_timeout`.
 */
export async function labelGroup(
  labels: LabelLimits,
  client: LabelledClient,
  sessions: readonly SessionRecord[],
): Promise<LabelGroup | undefined> {
  const [label, ...others] = await labelsOf(labels, [client, ...sessions])
  if (label === undefined || !Object.hasOwn(labels.limits, label)) return undefined
  const tokens = sessions.filter((_, index) => others[index] === label).map(({ token }) => token)
  return { label, maximum: labels.limits[label] as number, tokens }
}

/**
 * Returns the label of each client.
 *
 * @throws SessmgrError `hook_failed`, `hook_timeout`.
 */
export async function labelsOf(
  { labelOf = kindOfDevice, deadlineMs }: LabelLimits,
  clients: readonly LabelledClient[],
): Promise<readonly (string | undefined)[]> {
  const tooSlow = () => new SessmgrError('hook_timeout', `"labelOf" did not respond within ${deadlineMs} ms.`)
  const call = async ({ userAgent, ip, device }: LabelledClient) => {
    const label: unknown = await labelOf({ userAgent, ip, device })
    if (label === undefined || typeof label === 'string') return label
    throw new Error(`it must return a string or undefined; it returned ${inWords(label)}`)
  }
  const labels = Promise.all(clients.map(call)).catch((cause) => {
    throw new SessmgrError('hook_failed', `"labelOf" failed: ${messageOf(cause)}`, { cause })
  })
  return withDeadline(labels, deadlineMs, tooSlow)
}

async function kindOfDevice({ userAgent }: LabelledClient): Promise<string | undefined> {
  const { kind } = await deviceName(userAgent)
  if (kind === 'computer') return 'desktop'
  return kind === 'phone' || kind === 'tablet' ? 'mobile' : undefined
}
