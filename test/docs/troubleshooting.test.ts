import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, test } from 'vitest'
import { LicensingError, SENTENCES } from '../../src/features/addons/licensing.ts'
import { SessmgrError, STATUS } from '../../src/ground/errors.ts'
import { HELP_TOPICS, helpAt } from '../../src/ground/help.ts'
import { logError, warn, warnOnce } from '../../src/ground/logger.ts'
import { anchorsOf } from './anchors-of.ts'
import { pageAt, ROOT } from './pages.ts'

const page = pageAt('docs/troubleshooting.md')
const anchors = anchorsOf(page)
const files = readdirSync(join(ROOT, 'src'), { recursive: true })
  .map(String)
  .filter((file) => /\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(ROOT, 'src', file), 'utf8') }))

it('has a section about each warning and each error code', () => {
  const sections = [...HELP_TOPICS, ...Object.keys(STATUS), ...Object.keys(SENTENCES)]
  expect(sections.filter((section) => !anchors.includes(section))).toEqual([])
})

it('has no section about an error code that was removed', () => {
  const codes = [...page.text.matchAll(/^### `(\w+)`$/gm)].map(([, code = '']) => code)
  expect(codes.sort()).toEqual([...Object.keys(STATUS), ...Object.keys(SENTENCES)].sort())
})

it('quotes warnings as they are logged', () => {
  const source = files.map(({ text }) => text).join('\n')
  const lines = page.text.split('\n').filter((line) => line.startsWith('"'))
  const quoted = lines.flatMap((line) => line.split(/(?<="), /)).map((quote) => /^"(.*)"/.exec(quote)?.[1] ?? quote)
  expect(quoted.length).toBeGreaterThan(20)
  const isThere = (words: string) => words.split(' … ').every((part) => source.includes(part))
  expect(quoted.filter((words) => !isThere(words))).toEqual([])
})

it('is part of the package, at the address that messages print', () => {
  const { files: published } = JSON.parse(pageAt('package.json').text)
  expect(published).toContain('docs/*.md')
  expect(helpAt('several-processes')).toBe(`node_modules/sessmgr/${page.path}#several-processes`)
})

it('gives every topic to a message', () => {
  const used = (topic: string) =>
    files.some(({ file, text }) => file !== 'ground/help.ts' && text.includes(`'${topic}'`))
  expect(HELP_TOPICS.filter((topic) => !used(topic))).toEqual([])
})

it('cannot be left out: only the functions that add the address, and the router, call the logger', () => {
  const calls = files.filter(({ text }) => /logger\??\.(warn|error)\(/.test(text)).map(({ file }) => file)
  expect(calls.sort()).toEqual(['ground/logger.ts', 'routes/router.ts'])
})

test('every error has the address of its section', () => {
  for (const code of Object.keys(STATUS)) {
    expect(new SessmgrError(code as keyof typeof STATUS, 'x').help).toBe(helpAt(code))
  }
  for (const code of Object.keys(SENTENCES)) {
    expect(new LicensingError(code as keyof typeof SENTENCES).help).toBe(helpAt(code))
  }
})

test('every log line has the address of its section', () => {
  const lines: unknown[][] = []
  const logger = {
    warn: (...line: unknown[]) => void lines.push(line),
    error: (...line: unknown[]) => void lines.push(line),
  }
  warn(logger, 'several-processes', 'One.', { a: 1 })
  warnOnce(logger, 'no-login-seen', 'Two.')
  warnOnce(logger, 'no-login-seen', 'Two.')
  logError(logger, new SessmgrError('hook_failed', 'Three.'))
  // Messages of other errors may have no full stop.
  for (const end of ['boom', 'boom!', '(boom)', '(Boom.)']) logError(logger, new SessmgrError('hook_failed', end))
  expect(lines).toEqual([
    [`One. See ${helpAt('several-processes')}`, { a: 1 }],
    [`Two. See ${helpAt('no-login-seen')}`],
    ...['Three.', 'boom.', 'boom!', '(boom).', '(Boom.)'].map((message) => [
      `${message} See ${helpAt('hook_failed')}`,
      { code: 'hook_failed' },
    ]),
  ])
})
