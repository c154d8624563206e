import { describe, expect, it } from 'vitest'
import { codeIn, pageAt, sectionOf, tableRows } from './pages.ts'

/** What the code has, by the list that another test holds against it. */
const stable = pageAt('docs/stable-names.md')
const namesOf = (heading: string) =>
  [...sectionOf(stable, heading).text.matchAll(/^- `(.*)`$/gm)].map(([, name]) => name)

const documented = (path: string, title: string) =>
  tableRows(sectionOf(pageAt(path), title).text.split(/^###? /m)[0] ?? '').map(([name]) => codeIn(name))

describe('the tables of the options', () => {
  it.each([
    ['SessmgrOptions', 'docs/options.md', 'sessmgr()'],
    ['SessionSettings', 'docs/options.md', 'settings'],
    ['RedisStoreOptions', 'docs/options.md', 'redisStore()'],
    ['LazyCommentsOptions', 'docs/options.md', 'createLazyComments()'],
    ['OptionDefinition', 'docs/options.md', 'Options of an add-on'],
    ['CommentSettings', 'docs/lazy-comments.md', 'Settings'],
    ['HostPosts', 'docs/lazy-comments.md', 'Setting it up'],
  ])('have every member of %s, and no other', (type, path, title) => {
    const rows = documented(path, title).filter((name) => !/^(allow|logout_oldest|block)$/.test(name))
    expect(rows.toSorted()).toEqual(namesOf(`Members of ${type}`))
  })

  it('have every member of the host', () => {
    const members = documented('docs/options.md', 'host').map((name) => name.split('.')[0])
    expect([...new Set([...members, 'theme'])].toSorted()).toEqual(namesOf('Members of Host'))
    expect(
      documented('docs/options.md', 'host')
        .filter((name) => name.startsWith('users.'))
        .toSorted(),
    ).toEqual(namesOf('Members of HostUsers').map((name) => `users.${name}`))
  })
})

describe('docs/errors.md', () => {
  it('has every code of a SessmgrError, and no other', () => {
    const codes = tableRows(pageAt('docs/errors.md').text).map(([code]) => codeIn(code))
    expect(codes).toEqual(namesOf('Codes of SessmgrError'))
  })
})
