import type { Token } from '../../src/sessions/session-record.ts'

/** A login that was committed. */
export interface ObservedCommit {
  /** The user's live sessions on which the decision was based. */
  readonly live: readonly Token[]
  readonly ended: readonly Token[]
  /** Sessions that were ended because they were unused. */
  readonly idle: readonly Token[]
}

/** Returns what a commit did but must not do. */
export function judgeCommit({ live, ended, idle }: ObservedCommit, maximum: number): readonly string[] {
  const faults: string[] = []
  const after = live.filter((token) => !ended.includes(token)).length + 1
  if (after > maximum) faults.push(`a commit leaves ${after} sessions`)
  // Sessions that the user chose end in every mode, needed or not.
  const areAllIdle = idle.length > 0 && ended.every((token) => idle.includes(token))
  if (areAllIdle && after < maximum) faults.push('more sessions were ended as unused than needed')
  return faults
}
