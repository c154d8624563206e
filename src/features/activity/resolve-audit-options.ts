import { invalidOption } from '../../ground/invalid-option.ts'
import {
  type Declared,
  inWords,
  isRecord,
  must,
  oneOf,
  requireMethods,
  resolveDeclared,
  whole,
} from '../../ground/option-checks.ts'
import type { UserId } from '../../ground/user-id.ts'
import type { AuditSink } from './audit-event.ts'

/** Options of the activity log, which records logins, ended sessions and changed settings. */
export interface AuditOptions {
  /** Where to keep the events: a sink from sessmgr/audit, or your own. */
  readonly sink: AuditSink
  /**
   * Whether events are written before the response to a login, or in batches after it. @default 'after'
   */
  readonly mode?: 'after' | 'before' | undefined
  /**
   * In `before` mode: whether a login that cannot be recorded succeeds with a warning, or is refused.
   * @default 'warn'
   */
  readonly onFailure?: 'warn' | 'refuse' | undefined
  /** How many days to keep events, from 1 to 3,650. @default 365 */
  readonly retentionDays?: number | undefined
  /** Whether to record full addresses, only their networks (/24 or /48), or none. @default 'full' */
  readonly ip?: 'full' | 'truncated' | 'none' | undefined
  /** How to record users: by id, or by the result of a function, such as a keyed hash of the id. @default 'id' */
  readonly identify?: 'id' | ((id: UserId) => string) | undefined
}

export interface ResolvedAudit {
  readonly sink: AuditSink
  readonly isBefore: boolean
  readonly mayRefuse: boolean
  readonly retentionMs: number
  readonly ip: 'full' | 'truncated' | 'none'
  readonly identify: 'id' | ((id: UserId) => string)
}

const DAY_MS = 86_400_000
const OPTIONS = {
  sink: [requireSink],
  mode: [oneOf('after', 'before'), 'after'],
  onFailure: [oneOf('warn', 'refuse'), 'warn'],
  retentionDays: [whole(1, 3650), 365],
  ip: [oneOf('full', 'truncated', 'none'), 'full'],
  identify: [
    must("be 'id' or a function such as (id) => hash(id)", (it) => it === 'id' || typeof it === 'function'),
    'id',
  ],
} as const satisfies Declared<AuditOptions>

/**
 * Checks the `audit` option.
 *
 * @throws SessmgrError `invalid_option`.
 */
export function resolveAuditOptions(audit: AuditOptions | false | undefined): ResolvedAudit | false | undefined {
  if (audit === undefined || audit === false) return audit
  if (!isRecord(audit)) {
    throw invalidOption(
      `"audit" must be an object such as { sink: jsonLinesSink('activity.jsonl') }, or false; got ${inWords(audit)}`,
    )
  }
  if ('write' in audit) throw invalidOption('"audit" is a sink; write audit: { sink }')
  const { sink, mode, onFailure, retentionDays, ip, identify } = resolveDeclared(OPTIONS, audit, { within: 'audit' })
  requireSink('audit.sink', sink)
  if (onFailure === 'refuse' && mode === 'after') {
    throw invalidOption("\"audit.onFailure\" is 'refuse', which needs audit.mode: 'before'")
  }
  const isBefore = mode === 'before'
  return { sink, isBefore, mayRefuse: onFailure === 'refuse', retentionMs: retentionDays * DAY_MS, ip, identify }
}

function requireSink(name: string, sink: unknown): void {
  requireMethods(name, sink, ['write'], ', as in the sinks of sessmgr/audit')
}
