import { describe, expect, it, onTestFinished } from 'vitest'
import { sessmgr } from '../../src/index.ts'
import { declaredNames } from './declared-options.ts'
import { codeIn, pageAt, sectionOf, tableRows } from './pages.ts'

const page = pageAt('docs/limiter.md')

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
    ['Sessmgr', 'service/service', 'member'],
    ['SessionManager', 'limiter/manage-sessions', 'member of `limiter.sessions`'],
    ['SessionRecord', 'sessions/session-record', 'field'],
    ['SettingsService', 'options/session-settings', 'member of `limiter.settings`'],
    ['OptionRegistry', 'options/option-registry', 'member of `limiter.options`'],
    ['ApplicationPasswords', 'auth/application-passwords', 'member of `limiter.passwords`'],
    ['LazyComments', 'features/comments/lazy-comments', 'member of `limiter.comments`'],
  ])('names every member of %s, and no other', (type, source, heading) => {
    expect(documented(heading)).toEqual(declaredNames(`src/${source}.ts`, type))
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
