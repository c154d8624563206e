import { describe, expect, it, onTestFinished } from 'vitest'
import { sessmgr } from '../../src/index.ts'
import { codeIn, pageAt, sectionOf, tableRows } from './pages.ts'

const page = pageAt('docs/limiter.md')
/** What the code has, by the list that another test holds against it. */
const stable = pageAt('test/docs/stable-names.md')
const membersOf = (type: string) =>
  [...sectionOf(stable, `Members of ${type}`).text.matchAll(/^- `(.*)`$/gm)].map(([, name]) => name)

/** The members in the table with this heading in its first column; `name(parameters)` is `name`. */
function documented(heading: string): readonly string[] {
  const table = page.text.split('\n\n').find((block) => block.startsWith(`| ${heading} `)) ?? ''
  const cells = tableRows(table).flatMap(([cell = '']) =>
    cell.split(', `').map((part) => `\`${part.replace('`', '')}\``),
  )
  return cells.map((cell) => codeIn(cell).replace(/\(.*$/, '')).toSorted()
}

describe('docs/limiter.md', () => {
  it.each([
    ['Sessmgr', 'member'],
    ['SessionManager', 'member of `limiter.sessions`'],
    ['SessionRecord', 'field'],
    ['SettingsService', 'member of `limiter.settings`'],
    ['OptionRegistry', 'member of `limiter.options`'],
    ['ApplicationPasswords', 'member of `limiter.passwords`'],
    ['LazyComments', 'member of `limiter.comments`'],
  ])('names every member of %s, and no other', (type, heading) => {
    expect(membersOf(type)).not.toEqual([])
    expect(documented(heading)).toEqual(membersOf(type))
  })

  it('names every member of an option, of the block cache and of the modes, and no other', async () => {
    const nothing = () => undefined
    const posts = { find: nothing, id: Number, url: String, isPublic: () => true, countComments: () => 0 }
    const users = { findById: nothing, findByEmail: nothing, findByLogin: nothing, summary: (user: never) => user }
    const theme = { renderComments: () => '' }
    const limiter = sessmgr({ host: { users, can: () => false, posts, theme } })
    onTestFinished(() => limiter.close())
    expect(documented('member of an option')).toEqual(Object.keys(limiter.settings.option).toSorted())
    expect(documented('member of `limiter.comments.cache`')).toEqual(
      Object.keys(limiter.comments?.cache ?? {}).toSorted(),
    )
    const { text } = sectionOf(page, 'Modes')
    expect(Object.keys(limiter.modes).filter((name) => !text.includes(`modes.${name}(`))).toEqual([])
  })
})
