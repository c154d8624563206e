import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { commentsIn, messagesIn } from '../support/source-prose.ts'
import { wordFaults } from '../support/word-rules.ts'
import { ROOT } from './pages.ts'

const files = readdirSync(join(ROOT, 'src'), { recursive: true })
  .map((file) => `src/${String(file).replaceAll('\\', '/')}`)
  .filter((file) => /\.tsx?$/.test(file))

function faultsIn(path: string, source: string): readonly string[] {
  const proses = [...commentsIn(source), ...messagesIn(path, source)]
  return proses.flatMap(({ line, prose }) => wordFaults(prose).map((fault) => `${path}:${line}: ${fault}`))
}

it('comments and messages of the source use plain words and short sentences', () => {
  expect(files.length).toBeGreaterThan(300)
  expect(files.flatMap((file) => faultsIn(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
})

it('every error of the source begins with a capital letter, or with the name of an option or function', () => {
  const lowercase = /(?:invalidOption|Error)\(\s*(?:(?:'\w+'|\d),\s*)?[`'"]([a-z]+) [^`'"]*/g
  const lowercaseIn = (source: string) => [...source.matchAll(lowercase)].map(([call]) => call)
  expect(lowercaseIn("invalidOption(`this store`), new SessmgrError('hook_failed', 'the store')")).toHaveLength(2)
  expect(lowercaseIn("invalidOption('\"store\" is'), invalidOption('choice() needs')")).toEqual([])
  const found = files.flatMap((file) => lowercaseIn(readFileSync(join(ROOT, file), 'utf8')))
  // Other sentences end with these.
  expect(found.filter((call) => !/^(Type)?Error\(/.test(call))).toEqual([])
})

it('they would be refused with other words or longer sentences', () => {
  const source = [
    '/** Gives the master. @default for good */',
    '// Nobody but',
    '// he.',
    '/**',
    ' * Fine.',
    ' *',
    ' * @example',
    ' * alone()',
    ' */',
    "const whoever = 'anew'",
    "throw new Error('This user alone ' + 'tells it to whoever asks.')",
    `// ${'word '.repeat(31)}`,
  ].join('\n')
  const faults = faultsIn('made-up.ts', source).map((fault) => /:(\d+: "[^"]*"), better|:(\d+: \d+ words)/.exec(fault))
  expect(faults.map((found) => found?.[1] ?? found?.[2])).toEqual([
    '1: "master"',
    '1: "Gives"',
    '2: "he"',
    '12: 31 words',
    '11: "alone"',
    '11: "whoever"',
    '11: "tells"',
  ])
})
