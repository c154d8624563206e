import { beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '../../src/constants.ts'
import { hookCatalogue, sessmgr } from '../../src/index.ts'
import { codeIn, pageAt, sectionOf, tableRows } from './pages.ts'
import { readScreenApi, type ScreenApi } from './screen-api.ts'

const page = pageAt('docs/hooks.md')

describe.each(['actions', 'filters'] as const)('the %s in docs/hooks.md', (kind) => {
  const title = kind === 'actions' ? 'Actions' : 'Filters'
  const rows = tableRows(sectionOf(page, title).text)

  it('are those of the catalogue, with parameters and release, in its order', () => {
    const expected = Object.entries(hookCatalogue[kind]).map(([name, { parameters, since }]) => ({
      name,
      parameters: parameters.map((parameter) => `\`${parameter}\``).join(', ') || 'none',
      since,
    }))
    expect(rows.map(([name, parameters, since]) => ({ name: codeIn(name), parameters, since }))).toEqual(expected)
  })

  it('are each told what for', () => {
    for (const [name, , , what = ''] of rows) expect(what.length, name).toBeGreaterThan(20)
  })
})

describe.each(['actions', 'filters'] as const)('the %s of the admin screen in docs/hooks.md', (kind) => {
  const title = kind === 'actions' ? 'Actions' : 'Filters'
  const rows = tableRows(sectionOf(page, `${title} of the admin screen`).text)
  let screen: ScreenApi
  beforeAll(() => {
    screen = readScreenApi()
  })

  it('are those of the code, with their values or parameters, in its order', () => {
    const listed = rows.map(([name, value = '']) => ({
      name: codeIn(name),
      value: codeIn(value.replaceAll('\\|', '|')),
    }))
    expect(listed).toEqual(screen[kind].map(({ name, value }) => ({ name, value })))
  })

  it('tell a release that has been, and the one that the code names where it names one', () => {
    for (const [index, [name, , since = '']] of rows.entries()) {
      expect(since, name).toMatch(/^\d+\.\d+\.\d+$/)
      expect(since.localeCompare(VERSION, undefined, { numeric: true }), name).toBeLessThanOrEqual(0)
      expect(since, name).toBe(screen[kind][index]?.since ?? since)
    }
  })

  it('are each told what for', () => {
    for (const [name, , , what = ''] of rows) expect(what.length, name).toBeGreaterThan(20)
  })
})

describe('hook_misuse', () => {
  const { hooks } = sessmgr()
  const unknown = 'sessmgr_no_such_hook' as 'sessmgr_init'
  const filter = 'sessmgr_no_such_hook' as 'sessmgr_bypass'
  const misuse = expect.objectContaining({ code: 'hook_misuse' })

  it.each([
    ['addAction', () => hooks.addAction(unknown, 'test', () => {})],
    ['removeAction', () => hooks.removeAction(unknown, 'test')],
    ['hasAction', () => hooks.hasAction(unknown)],
    ['didAction', () => hooks.didAction(unknown)],
    ['addFilter', () => hooks.addFilter(filter, 'test', (value) => value)],
    ['removeFilter', () => hooks.removeFilter(filter, 'test')],
    ['hasFilter', () => hooks.hasFilter(filter)],
    ['didFilter', () => hooks.didFilter(filter)],
  ])('is thrown by %s where it is called', (_method, call) => {
    expect(call).toThrow(misuse)
  })

  it.each([
    ['doAction', () => hooks.doAction(unknown, undefined)],
    ['applyFilters', () => hooks.applyFilters(filter, false, 1)],
  ])('is what the promise of %s rejects with', async (_method, call) => {
    await expect(call()).rejects.toEqual(misuse)
  })
})
