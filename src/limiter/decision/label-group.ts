import { AsyncResource } from 'node:async_hooks'
import { withDeadline } from '../../ground/deadline.ts'
import { messageOf, SessmgrError } from '../../ground/errors.ts'
import { type Logger, warn } from '../../ground/logger.ts'
import { inWords } from '../../ground/option-checks.ts'
import { A_MAXIMUM, isMaximum } from '../../options/setting-rules.ts'
import { deviceName } from '../../sessions/device.ts'
import type { SessionRecord, Token } from '../../sessions/session-record.ts'

/** The client of a session or of a login. */
export type LabelledClient = Pick<SessionRecord, 'userAgent' | 'ip' | 'device'>

/** A client, and the label that its login was given. */
type Labelled = LabelledClient & Pick<SessionRecord, 'label'>

/** Limits for sessions with the same label. */
export interface LabelLimits {
  /** How many sessions each user may have: by label, or returned for one. Undefined if the label has no limit. */
  readonly limits: Readonly<Record<string, number>> | ((label: string) => number | undefined)
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
  client: Labelled,
  sessions: readonly SessionRecord[],
  logger?: Logger,
): Promise<LabelGroup | undefined> {
  const [label, ...others] = await labelsOf(labels, [client, ...sessions])
  if (logger && process.env.NODE_ENV !== 'production') {
    const [outside] = await OUTSIDE.runInAsyncScope(() => labelsOf(labels, [client]))
    if (outside !== label) warn(logger, 'labels-change', OTHER_RESULTS)
  }
  const maximum = label === undefined ? undefined : limitFor(labels, label)
  if (label === undefined || maximum === undefined) return undefined
  const tokens = sessions.filter((_, index) => others[index] === label).map(({ token }) => token)
  return { label, maximum, tokens }
}

/**
 * Returns how many sessions with a label each user may have.
 *
 * @throws SessmgrError `hook_failed`.
 */
export function limitFor({ limits }: LabelLimits, label: string): number | undefined {
  if (typeof limits !== 'function') return Object.hasOwn(limits, label) ? limits[label] : undefined
  try {
    const maximum: unknown = limits(label)
    if (maximum === undefined || isMaximum(maximum)) return maximum
    throw new Error(`it must return ${A_MAXIMUM}, or undefined; it returned ${inWords(maximum)}`)
  } catch (cause) {
    throw new SessmgrError('hook_failed', `"limits" failed: ${messageOf(cause)}`, { cause })
  }
}

/** Where no request is under way. Other logins ask for the labels in their own requests. */
const OUTSIDE = new AsyncResource('sessmgr.labelOf')

const OTHER_RESULTS =
  'labelOf() returns another label for the same session later, so limits are not exact. It must depend on its arguments ' +
  'alone. To take a label from the request, use the "login" option, which keeps it.'

/**
 * Returns the label of each client: the one that its login was given, or that of `labelOf`.
 *
 * @throws SessmgrError `hook_failed`, `hook_timeout`.
 */
export async function labelsOf(
  { labelOf = kindOfDevice, deadlineMs }: LabelLimits,
  clients: readonly Labelled[],
): Promise<readonly (string | undefined)[]> {
  const tooSlow = () => new SessmgrError('hook_timeout', `"labelOf" did not respond within ${deadlineMs} ms.`)
  const call = async ({ userAgent, ip, device, label: given }: Labelled) => {
    if (given !== null) return given
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

/** Returns the sessions with a label. */
export async function sessionsLabelled<Session extends Labelled>(
  labels: LabelLimits | undefined,
  sessions: readonly Session[],
  label: string,
): Promise<readonly Session[]> {
  const names = labels ? await labelsOf(labels, sessions) : sessions.map((session) => session.label)
  return sessions.filter((_, index) => names[index] === label)
}
