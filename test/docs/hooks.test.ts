import { beforeAll, describe, expect, it } from 'vitest'
import { hookCatalogue } from '../../src/index.ts'
import { codeIn, pageAt, sectionOf, tableRows } from './pages.ts'
import { readScreenApi, type ScreenApi } from './screen-api.ts'

const page = pageAt('docs/hooks.md')
const others = ['add-ons', 'lazy-comments'].flatMap((name) =>
  tableRows(sectionOf(pageAt(`docs/blog/${name}.md`), 'Hooks').text),
)

describe.each(['actions', 'filters'] as const)('the %s in docs/hooks.md and docs/blog', (kind) => {
  const title = kind === 'actions' ? 'Actions' : 'Filters'
  const rows = tableRows(sectionOf(page, title).text)
  const elsewhere = others.filter(([name]) => codeIn(name) in hookCatalogue[kind])

  it('are those of the catalogue, with parameters, in its order', () => {
    const expected = Object.entries(hookCatalogue[kind]).map(([name, { parameters }]) => ({
      name,
      parameters: parameters.map((parameter) => `\`${parameter}\``).join(', ') || 'none',
    }))
    const listed = (given: typeof rows) => given.map(([name, parameters]) => ({ name: codeIn(name), parameters }))
    const isElsewhere = ({ name }: { name: string }) => elsewhere.some(([other]) => codeIn(other) === name)
    expect(listed(rows)).toEqual(expected.filter((hook) => !isElsewhere(hook)))
    expect(listed(elsewhere)).toEqual(expected.filter(isElsewhere))
  })
})

it('the hooks in docs/blog are in the catalogue', () => {
  const known = { ...hookCatalogue.actions, ...hookCatalogue.filters }
  expect(others.filter(([name]) => !(codeIn(name) in known))).toEqual([])
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
})
