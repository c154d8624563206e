import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SessmgrError, type SessmgrErrorCode } from '../../src/ground/errors.ts'
import { declaredNames, settingHelp, withOptionTables } from './declared-options.ts'
import { codeBlocks, codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'

const documented = (path: string, title: string) =>
  tableRows(sectionOf(pageAt(path), title).text.split(/^###? /m)[0] ?? '').map(([name]) => codeIn(name))

const PAGES = ['options', 'live', 'admin-screen', 'better-auth'].map((name) => `docs/${name}.md`)

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
    ['SessmgrOptions', 'src/service/resolve-options.ts', 'docs/options.md', 'sessmgr()'],
    ['SessionSettings', 'src/options/setting-rules.ts', 'docs/options.md', 'settings'],
    ['RedisStoreOptions', 'src/stores/redis/redis-store.ts', 'docs/options.md', 'redisStore()'],
    ['LiveOptions', 'src/extensions/live/live-connections.ts', 'docs/live.md', 'Options'],
    ['OptionDefinition', 'src/options/option-registry.ts', 'docs/blog/add-ons.md', 'Options of an add-on'],
    ['CommentSettings', 'src/features/comments/lazy-comments.ts', 'docs/blog/lazy-comments.md', 'Settings'],
  ])('have every member of %s, and no other', (type, source, path, title) => {
    const rows = documented(path, title).filter((name) => !/^(allow|logout_oldest|logout_idlest|block|ask)$/.test(name))
    expect(rows.toSorted()).toEqual(declaredNames(source, type))
  })
})

it('the example of docs/blog/lazy-comments.md has every member of posts', () => {
  const [{ code } = { code: '' }] = codeBlocks(pageAt('docs/blog/lazy-comments.md'))
  const posts = /posts: \{([\s\S]*?)\n {4}\}/.exec(code)?.[1] ?? ''
  const members = [...posts.matchAll(/^ {6}(\w+):/gm)].map(([, name = '']) => name)
  expect(members.toSorted()).toEqual(declaredNames('src/host/host.ts', 'HostPosts'))
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

  it('have the status of each', () => {
    expect(wrongStatuses(page)).toEqual([])
    const wrong = { ...page, text: page.text.replace(/\| 403 /, '| 418 ').replace(/\| 400 /, '| 500 ') }
    expect(wrongStatuses(wrong)).toHaveLength(3)
  })
})
