import { describe, expect, it } from 'vitest'
import { hookCatalogue } from '../../src/index.ts'
import { codeIn, pageAt, sectionOf, tableRows } from './pages.ts'

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
