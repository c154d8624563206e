import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ALLOWANCES } from '../replay/allowed.ts'
import { bundle, CACHE, ROOT } from '../replay/bundle.ts'
import { readWords, writeWords } from '../replay/recording.ts'
import type { HostTranscript } from './host-suites.ts'

/** How often a test is repeated: some depend on what is first, above all on a busy machine. */
const REPEATS = 3

/** The host suite in a thread of its own, in real time and over real connections. */
async function openSuites() {
  const alias = { vitest: join(ROOT, 'test', 'oracle', 'hosts', 'vitest.ts') }
  const file = join(CACHE, `hosts-${process.pid}.mjs`)
  await bundle('test/oracle/hosts/host-suites.ts', file, { packages: 'external', alias })
  const worker = new Worker(file)
  return {
    run: (only?: readonly string[]) =>
      new Promise<readonly HostTranscript[]>((resolve, reject) => {
        worker.once('message', resolve).once('error', reject)
        worker.postMessage(only)
      }),
    async close() {
      await worker.terminate()
      rmSync(file)
    },
  }
}

/** Records the tests that tell the same each time. Returns the names of the others. */
export async function recordHosts(): Promise<readonly string[]> {
  const suites = await openSuites()
  try {
    const runs = []
    for (let run = 0; run < REPEATS; run++) runs.push(await suites.run())
    const [first = [], ...others] = runs
    const isSame = ({ name, lines }: HostTranscript) =>
      others.every((run) => run.some((one) => one.name === name && one.lines.join('\n') === lines.join('\n')))
    const kept = first.filter(isSame)
    writeWords(
      'hosts',
      kept.map(({ name, lines }) => [name, ...lines].join('\n')),
    )
    return first.filter((one) => !kept.includes(one)).map(({ name }) => name)
  } finally {
    await suites.close()
  }
}

/** Runs the recorded tests of the host suite, and returns each difference in words. */
export async function replayHosts(): Promise<{ readonly tests: number; readonly differences: readonly string[] }> {
  const recorded = readWords('hosts').map((text) => text.split('\n') as [string, ...string[]])
  const suites = await openSuites()
  try {
    let left = recorded
    let found: readonly HostTranscript[] = []
    for (let run = 0; run < REPEATS && left.length > 0; run++) {
      found = await suites.run(left.map(([name]) => name))
      left = left.filter(([name, ...lines]) => differenceAt(name, lines, found) !== undefined)
    }
    const differences = left.flatMap(([name, ...lines]) => differenceAt(name, lines, found) ?? [])
    return { tests: recorded.length, differences }
  } finally {
    await suites.close()
  }
}

/** Returns the first difference of a test that no decision allows, with the lines before it. */
function differenceAt(name: string, expected: readonly string[], found: readonly HostTranscript[]): string | undefined {
  const lines = found.find((one) => one.name === name)?.lines
  if (!lines) return `${name}\n  This test is no part of the host suite any more.`
  const length = Math.max(expected.length, lines.length)
  const at = Array.from({ length }, (_, index) => index).find((index) => expected[index] !== lines[index])
  if (at === undefined) return undefined
  const [was = 'nothing', is = 'nothing'] = [expected[at], lines[at]]
  if (ALLOWANCES.some((one) => one.allowsAtHost?.({ name, expected: was, found: is }))) return undefined
  const before = expected.slice(0, at).map((line) => `  ${line}`)
  return [name, ...before, `  expected ${was}`, `  found    ${is}`].join('\n')
}
