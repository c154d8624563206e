import { createHash } from 'node:crypto'
import type { Part, Told } from '../driver/told.ts'
import type { History } from '../histories/commands.ts'
import { commandInWords, setupInWords } from '../histories/commands.ts'
import { ALLOWANCES, type Allowance } from './allowed.ts'
import type { Transcript } from './play.ts'

/** A difference between two transcripts of a history. */
export interface Difference {
  readonly history: string
  /** What differs, to count differences of the same kind: the command and the parts. */
  readonly kind: string
  /** The history in words up to the difference, and both transcripts of its last command. */
  readonly words: string
}

/** The result of a comparison. */
export interface Comparison {
  readonly difference?: Difference | undefined
  /** Numbers of the decisions that allowed differences. */
  readonly allowed: readonly number[]
  /** How many commands were not compared, because an allowed difference left other sessions live. */
  readonly dropped: number
}

const PARTS: readonly Part[] = ['outcome', 'kinds', 'events', 'channels', 'filters', 'sessions', 'connections', 'live']

/**
 * Compares the transcripts of a history, up to the first difference that no decision allows. After an allowed one, the
 * rest is compared only if the same sessions are live.
 */
export function compare(
  history: History,
  expected: Transcript,
  found: Transcript,
  allowances: readonly Allowance[] = ALLOWANCES,
): Comparison {
  const allowed: number[] = []
  const { setup } = history
  for (const [index, before] of expected.steps.entries()) {
    const after = found.steps[index] as Told
    const command = history.commands[index]
    const parts = PARTS.filter((part) => !isSame(before[part], after[part]))
    let lasts = parts.includes('live')
    const earlier = history.commands.slice(0, index)
    if (!command || parts.length === 0) continue
    for (const part of parts) {
      const step = { setup, command, earlier, part, expected: before, found: after }
      const allowance = allowances.find((one) => one.allows(step))
      if (!allowance) return { difference: differenceAt(history, expected, found, index, parts), allowed, dropped: 0 }
      allowed.push(allowance.number)
      lasts ||= allowance.lasts === true
    }
    if (lasts) return { allowed, dropped: expected.steps.length - index - 1 }
  }
  // An allowed difference may appear in the activity log as well.
  if (allowed.length > 0 || isSame(expected.activity, found.activity)) return { allowed, dropped: 0 }
  const last = expected.steps.length - 1
  return { difference: differenceAt(history, expected, found, last, ['activity']), allowed, dropped: 0 }
}

function differenceAt(
  history: History,
  expected: Transcript,
  found: Transcript,
  index: number,
  parts: readonly (Part | 'activity')[],
): Difference {
  const lines = [`${history.name}: ${setupInWords(history.setup)}`]
  for (const [number, command] of history.commands.slice(0, index + 1).entries()) {
    const { outcome } = expected.steps[number] as Told
    lines.push(`  ${number + 1}. ${commandInWords(command)}${number < index ? ` -> ${outcome}` : ''}`)
  }
  for (const part of parts) {
    const [was, is] = [expected, found].map((all) => (part === 'activity' ? all.activity : all.steps[index]?.[part]))
    lines.push(`     ${part}:`, `       expected ${inLine(was)}`, `       found    ${inLine(is)}`)
  }
  const command = history.commands[index]
  return { history: history.name, kind: `${command?.do}: ${parts.join(', ')}`, words: lines.join('\n') }
}

/** Returns a transcript in words. */
export function transcriptInWords(history: History, { steps, activity }: Transcript): string {
  const told = steps.flatMap((step, index) => {
    const parts = PARTS.slice(1).filter((part) => step[part].length > 0)
    const command = history.commands[index]
    return [
      `${index + 1}. ${command ? commandInWords(command) : ''} -> ${step.outcome}`,
      ...parts.map((part) => `     ${part}: ${inLine(step[part])}`),
    ]
  })
  return [`${history.name}: ${setupInWords(history.setup)}`, ...told, ...activity.map((line) => `   ${line}`)].join(
    '\n',
  )
}

/** Returns two bytes by which a transcript is known. */
export function hashOf(history: History, transcript: Transcript): number {
  const text = JSON.stringify([history.setup, history.commands, transcript])
  return createHash('sha1').update(text).digest().readUInt16LE()
}

function inLine(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value ?? []).join('; ') || 'nothing'
}

function isSame(one: string | readonly string[], other: string | readonly string[]): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other
  return one.length === other.length && one.every((line, index) => line === other[index])
}
