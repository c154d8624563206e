import type { Part, Told } from '../driver/told.ts'
import type { Command, Setup } from '../histories/commands.ts'

/** A difference after one command, in one part of what is told. */
export interface StepDifference {
  readonly setup: Setup
  readonly command: Command
  /** The commands before, oldest first. */
  readonly earlier: readonly Command[]
  readonly part: Part
  readonly expected: Told
  readonly found: Told
}

/** A decision that allows differences. Each has a row in `differences.md`. */
export interface Allowance {
  /** Number of the decision. */
  readonly number: number
  /** Whether this difference is the outcome that the decision names, and no other. */
  allows(difference: StepDifference): boolean
  /** Whether later commands may differ as well, even if the same sessions are live. @default false */
  readonly lasts?: boolean
  /** The same for a line of a test of the host suite. @default none */
  allowsAtHost?(difference: { readonly name: string; readonly expected: string; readonly found: string }): boolean
}

/** Returns lines without the numbers of generations. */
function withoutGenerations(lines: readonly string[] | string): readonly string[] {
  return [lines].flat().map((line) => line.replaceAll(/ generation \d+/g, ''))
}

/** Whether lines differ only in the numbers of generations. */
function differInGenerations(expected: readonly string[] | string, found: readonly string[] | string): boolean {
  return withoutGenerations(expected).join('\n') === withoutGenerations(found).join('\n')
}

/** Whether a command is a login during which another process logs everybody out. */
function isOvertaken(command: Command): boolean {
  return command.do === 'login' && command.meanwhile?.do === 'log all out'
}

/** Whether both did the same, but the login was decided again. */
function isDecidedAgain(part: Part, expected: Told, found: Told): boolean {
  if (part === 'channels') return expected.channels.join('\n') === found.channels.join('\n').replace(' again ', ' ')
  return part === 'filters' && found.filters.length > expected.filters.length
}

/** Whether the clock was set back before. */
function wasSetBack(earlier: readonly Command[]): boolean {
  return earlier.some((command) => command.do === 'set clock' && command.ms < 0)
}

/** Whether somebody was erased before, or during a command. */
function wasErased(earlier: readonly Command[], command: Command): boolean {
  const isErasure = (one: Command) => one.do === 'erase' || ('meanwhile' in one && one.meanwhile?.do === 'erase')
  return isErasure(command) || earlier.some(isErasure)
}

/** Whether two lists differ only in where new devices are announced. */
function differInNewDevices(expected: readonly string[], found: readonly string[]): boolean {
  const others = (events: readonly string[]) => events.filter((event) => !event.startsWith('new_device ')).join('\n')
  return others(expected) === others(found) && expected.toSorted().join('\n') === found.toSorted().join('\n')
}

/** Whether the same number of sessions was displaced in both. */
function displaceAsMany(expected: Told, found: Told): boolean {
  const areDisplaced = ({ kinds }: Told) => kinds.every((kind) => kind.endsWith(' displaced'))
  const areAsMany = expected.kinds.length === found.kinds.length && expected.outcome === found.outcome
  return areAsMany && areDisplaced(expected) && areDisplaced(found)
}

/** All decisions that allow differences. */
export const ALLOWANCES: readonly Allowance[] = [
  {
    number: 78,
    allows: ({ part, expected, found }) => differInGenerations(expected[part], found[part]),
    allowsAtHost: ({ expected, found }) => differInGenerations(expected, found),
  },
  {
    number: 78,
    allows: ({ command, found }) =>
      command.do === 'log all out' && command.keep !== undefined && found.outcome === 'error session_ended',
    lasts: true,
  },
  { number: 78, allows: ({ command }) => isOvertaken(command), lasts: true },
  {
    number: 78,
    allows: ({ command, expected, found }) =>
      command.do === 'adopt again' && expected.outcome.includes('logout_all') && found.outcome.startsWith('live'),
    lasts: true,
  },
  { number: 78, allows: ({ command, part }) => command.do === 'race' && part !== 'outcome', lasts: true },
  {
    number: 47,
    allows: ({ command, part, expected, found }) =>
      command.do === 'login' &&
      ['end all', 'end others'].includes(String(command.meanwhile?.do)) &&
      isDecidedAgain(part, expected, found),
  },
  {
    number: 72,
    allows: ({ setup, command, expected, found }) =>
      setup.logic === 'logout_idlest' && command.do === 'login' && displaceAsMany(expected, found),
  },
  {
    number: 77,
    allows: ({ command, earlier, found }) =>
      wasErased(earlier, command) && /error store_unavailable|\d error/.test(found.outcome),
    lasts: true,
  },
  {
    number: 77,
    allows: ({ setup, command, earlier, part }) =>
      setup.store === 'rows' && wasErased(earlier, command) && part !== 'kinds',
    lasts: true,
  },
  {
    number: 77,
    allows: ({ command, part, expected, found }) =>
      part === 'filters' && wasErased([], command) && found.filters.length < expected.filters.length,
  },
  {
    number: 77,
    allows: ({ command, earlier, found }) =>
      (command.do === 'adopt' || command.do === 'adopt again') &&
      wasErased(earlier, command) &&
      found.outcome === 'ended: ended',
  },
  {
    number: 85,
    allows: ({ command, found }) => command.do === 'put back' && found.outcome === 'back: false',
  },
  {
    number: 87,
    allows: ({ command, earlier, expected, found }) =>
      wasSetBack(earlier) &&
      command.do === 'adopt again' &&
      expected.outcome.startsWith('ended') &&
      found.outcome.startsWith('live'),
    lasts: true,
  },
  {
    number: 87,
    allows: ({ command, earlier, found }) =>
      wasSetBack(earlier) && command.do === 'choose' && found.outcome === 'not pending',
    lasts: true,
  },
  {
    number: 87,
    allows: ({ earlier, part, found }) =>
      wasSetBack(earlier) && part === 'events' && found.events.some((event) => event.startsWith('new_device ')),
  },
  {
    number: 89,
    allows: ({ setup, part, expected, found }) =>
      setup.store === 'rows' &&
      part === 'events' &&
      differInNewDevices(withoutGenerations(expected.events), withoutGenerations(found.events)),
  },
]
