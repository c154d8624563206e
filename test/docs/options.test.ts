import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SessmgrError, type SessmgrErrorCode } from '../../src/ground/errors.ts'
import { settingHelp, withOptionTables } from './declared-options.ts'
import { codeIn, type Page, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'

/** What the code has, by the list that another test holds against it. */
const stable = pageAt('test/docs/stable-names.md')
const namesOf = (heading: string) =>
  [...sectionOf(stable, heading).text.matchAll(/^- `(.*)`$/gm)].map(([, name]) => name)

const documented = (path: string, title: string) =>
  tableRows(sectionOf(pageAt(path), title).text.split(/^###? /m)[0] ?? '').map(([name]) => codeIn(name))

const PAGES = ['options', 'live', 'admin-screen', 'add-ons', 'better-auth'].map((name) => `docs/${name}.md`)

describe('the tables of the options', () => {
  it.each(PAGES)('are those of the docstrings in %s; `npx vitest run test/docs --update` writes them', async (path) => {
    const text = withOptionTables(pageAt(path))
    expect(text).toMatch(/<!-- from \w+ in \S+ -->\n\n(\*|\|)/)
    await expect(text).toMatchFileSnapshot(join(ROOT, path))
  })

  it('and the help of the command line are those of the docstrings', async () => {
    await expect(settingHelp()).toMatchFileSnapshot(join(ROOT, 'src/cli/commands/setting-help.ts'))
  })

  it.each([
    ['SessmgrOptions', 'docs/options.md', 'sessmgr()'],
    ['SessionSettings', 'docs/options.md', 'settings'],
    ['RedisStoreOptions', 'docs/options.md', 'redisStore()'],
    ['LiveOptions', 'docs/live.md', 'Options'],
    ['LazyCommentsOptions', 'docs/options.md', 'createLazyComments()'],
    ['OptionDefinition', 'docs/options.md', 'Options of an add-on'],
    ['CommentSettings', 'docs/lazy-comments.md', 'Settings'],
    ['HostPosts', 'docs/lazy-comments.md', 'Setting it up'],
  ])('have every member of %s, and no other', (type, path, title) => {
    const rows = documented(path, title).filter((name) => !/^(allow|logout_oldest|logout_idlest|block|ask)$/.test(name))
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

/** Which statuses a table of errors has that are not those of the code. */
const wrongStatuses = ({ text }: Page) =>
  tableRows(text).filter(([code, status]) => {
    const error = new SessmgrError(codeIn(code) as SessmgrErrorCode, 'Full.')
    return (error as { status?: number }).status !== Number(status)
  })

describe('docs/errors.md', () => {
  const page = pageAt('docs/errors.md')

  it('has every code of a SessmgrError, and no other', () => {
    expect(tableRows(page.text).map(([code]) => codeIn(code))).toEqual(namesOf('Codes of SessmgrError'))
  })

  it('has the status of each', () => {
    expect(wrongStatuses(page)).toEqual([])
    const wrong = { ...page, text: page.text.replaceAll('| 403 ', '| 418 ').replaceAll('| 400 ', '| 500 ') }
    expect(wrongStatuses(wrong)).toHaveLength(3)
  })
})
