import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, test } from 'vitest'
import { LicensingError, SENTENCES } from '../../src/features/addons/licensing.ts'
import { SessmgrError, STATUS } from '../../src/ground/errors.ts'
import { FAILURES, helpAt, WARNINGS } from '../../src/ground/help.ts'
import { logError, logFailure, logFailureOnce, warn } from '../../src/ground/logger.ts'
import { anchorsOf } from './anchors-of.ts'
import { pageAt, ROOT } from './pages.ts'

const page = pageAt('docs/troubleshooting.md')
const anchors = anchorsOf(page)
const files = readdirSync(join(ROOT, 'src'), { recursive: true })
  .map(String)
  .filter((file) => /\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(ROOT, 'src', file), 'utf8') }))

it('has a section about each warning, about failures, and about each error code', () => {
  const sections = [...WARNINGS, FAILURES, ...Object.keys(STATUS), ...Object.keys(SENTENCES)]
  expect(sections.filter((section) => !anchors.includes(section))).toEqual([])
})

it('is part of the package, at the address that messages print', () => {
  const { files: published } = JSON.parse(pageAt('package.json').text)
  expect(published).toContain('docs/*.md')
  expect(helpAt('redis-may-evict')).toBe(`node_modules/sessmgr/${page.path}#redis-may-evict`)
})

const tests = readdirSync(join(ROOT, 'test'), { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => readFileSync(join(ROOT, 'test', file), 'utf8'))

test.each(WARNINGS)('the warning %s is logged by the code, and provoked by a test', (name) => {
  expect(files.filter(({ file, text }) => file !== 'ground/help.ts' && text.includes(`'${name}'`))).not.toEqual([])
  expect(tests.filter((text) => new RegExp(`aWarning\\(\\s*'${name}'`).test(text))).not.toEqual([])
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
  for (const message of ['One.', 'Another cause of it.']) warn(logger, 'no-login-seen', message)
  for (let times = 0; times < 2; times++) logFailure(logger, 'Two.', { error: 'boom' })
  for (let times = 0; times < 2; times++) logFailureOnce(logger, 'Only once.')
  logError(logger, new SessmgrError('hook_failed', 'Three.'))
  // Messages of other errors may have no full stop.
  for (const end of ['boom', 'boom!', '(boom)', '(Boom.)']) logError(logger, new SessmgrError('hook_failed', end))
  expect(lines).toEqual([
    [`One. See ${helpAt('no-login-seen')}`],
    [`Two. See ${helpAt(FAILURES)}`, { error: 'boom' }],
    [`Two. See ${helpAt(FAILURES)}`, { error: 'boom' }],
    [`Only once. See ${helpAt(FAILURES)}`],
    ...['Three.', 'boom.', 'boom!', '(boom).', '(Boom.)'].map((message) => [
      `${message} See ${helpAt('hook_failed')}`,
      { code: 'hook_failed' },
    ]),
  ])
})
