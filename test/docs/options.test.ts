import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SessmgrError, type SessmgrErrorCode } from '../../src/ground/errors.ts'
import { settingHelp, withOptionTables } from './declared-options.ts'
import { codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'

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

/** The codes in a table of errors, each with its status. */
const statusesIn = (text: string) =>
  tableRows(text).flatMap(([status, codes = '']) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code = '']) => ({ code, status: Number(status) })),
  )

/** Which statuses a table of errors has that are not those of the code. */
const wrongStatuses = ({ text }: { text: string }) =>
  statusesIn(text).filter(({ code, status }) => {
    const error = new SessmgrError(code as SessmgrErrorCode, 'Full.')
    return (error as { status?: number }).status !== status
  })

describe('the error codes of docs/troubleshooting.md', () => {
  const page = { text: sectionOf(pageAt('docs/troubleshooting.md'), 'Error codes').text.split('\n### ')[0] ?? '' }

  it('are every code of a SessmgrError, and no other', () => {
    const codes = statusesIn(page.text).map(({ code }) => code)
    expect(codes.toSorted()).toEqual(namesOf('Codes of SessmgrError'))
  })

  it('have the status of each', () => {
    expect(wrongStatuses(page)).toEqual([])
    const wrong = { ...page, text: page.text.replace(/\| 403 /, '| 418 ').replace(/\| 400 /, '| 500 ') }
    expect(wrongStatuses(wrong)).toHaveLength(3)
  })
})
