import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALLOWANCES } from './allowed.ts'
import { ROOT } from './bundle.ts'
import type { Difference } from './compare.ts'
import type { TaskResult } from './worker.ts'

/** How many kinds of differences are printed in words. */
const MOST_PRINTED = 20

/** The result of a replay, in words. */
export interface Report {
  /** How many histories differ in a way that no decision allows. */
  readonly differences: number
  /** Differences of each kind, the shortest first. */
  readonly kinds: ReadonlyMap<string, readonly Difference[]>
  readonly words: string
}

export function reportOf(results: readonly TaskResult[]): Report {
  const comparisons = results.flatMap((result) => result.comparisons)
  const differences = comparisons.flatMap(({ difference }) => difference ?? [])
  const kinds = new Map<string, Difference[]>()
  for (const one of differences) kinds.set(one.kind, [...(kinds.get(one.kind) ?? []), one])
  for (const list of kinds.values()) list.sort((a, b) => a.words.length - b.words.length)
  const byCount = [...kinds].toSorted(([, one], [, other]) => other.length - one.length)
  const printed = byCount
    .slice(0, MOST_PRINTED)
    .map(([kind, list]) => `\n${list.length} histories differ at ${kind}. The shortest:\n${list[0]?.words}`)
  const hidden = byCount.length - printed.length
  const sum = (of: (result: TaskResult) => number) => results.reduce((total, result) => total + of(result), 0)
  const words = [
    ...printed,
    ...(hidden > 0 ? [`\n${hidden} more kinds of differences are not printed.`] : []),
    '',
    ...allowedInWords(comparisons.flatMap(({ allowed }) => allowed)),
    `${sum((one) => one.histories)} histories with ${sum((one) => one.commands)} commands: ${differences.length} differ.`,
  ]
  const dropped = comparisons.reduce((total, one) => total + one.dropped, 0)
  if (dropped > 0) words.push(`${dropped} commands after an allowed difference were not compared.`)
  return { differences: differences.length, kinds, words: words.join('\n') }
}

function allowedInWords(numbers: readonly number[]): readonly string[] {
  return [...new Set(numbers)].map((number) => {
    const count = numbers.filter((one) => one === number).length
    return `Decision ${number} allowed ${count} differences.`
  })
}

/** Checks that each decision in `differences.md` has its code in `allowed.ts`, and the other way round. */
export function checkAllowances(): void {
  const page = readFileSync(join(ROOT, 'test', 'oracle', 'differences.md'), 'utf8')
  const listed = [...page.matchAll(/^\| (\d+) +\|/gm)].map(([, number]) => Number(number))
  const coded = ALLOWANCES.map(({ number }) => number)
  const lonely = [...listed.filter((one) => !coded.includes(one)), ...coded.filter((one) => !listed.includes(one))]
  if (lonely.length > 0) throw new Error(`In differences.md or allowed.ts alone: ${lonely.join(', ')}`)
}
