import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { SENTENCES } from '../../src/features/addons/licensing.ts'
import { withOptionTables } from './declared-options.ts'
import { type Route, readRoutes } from './openapi.ts'
import { codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'
import { restErrors, unreadErrors } from './rest-errors.ts'
import { ROUTE_PAGES, withRouteTable } from './rest-routes.ts'

let routes: readonly Route[]
beforeAll(async () => {
  routes = await readRoutes()
}, 240_000)

describe('the tables of routes', () => {
  it.each(Object.keys(ROUTE_PAGES))(
    'are what the running application says of itself in %s; `npx vitest run test/docs --update` writes them',
    async (path) => {
      // Two tests that write one page would overwrite each other's tables.
      const text = withRouteTable({ path, text: withOptionTables(pageAt(path)) }, routes)
      expect(text).toMatch(/^\| `[A-Z, ]+ \/(sessmgr|lazycomments|wp)\/v\d\//m)
      await expect(text).toMatchFileSnapshot(join(ROOT, path))
    },
  )

  it('have every route once', () => {
    const pagesOf = (path: string) => Object.values(ROUTE_PAGES).filter((isHere) => isHere(path)).length
    expect(routes.filter(({ path }) => pagesOf(path) !== 1)).toEqual([])
  })
})

describe('docs/rest.md', () => {
  const page = pageAt('docs/rest.md')
  const general = tableRows(sectionOf(page, 'Error codes').text).flatMap(([status, codes = '']) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([code]) => [code, status]),
  )
  it('lists every error code with its status, and no other', () => {
    const listed = general.map(([code, status]) => `${status} ${codeIn(code)}`)
    const answered = restErrors()
    expect(listed.filter((error) => !answered.includes(error))).toEqual([])
    // docs/troubleshooting.md has those of licenses.
    const isOfLicenses = (error: string) => (error.split(' ')[1] ?? '') in SENTENCES
    expect(answered.filter((error) => !listed.includes(error) && !isOfLicenses(error))).toEqual([])
  })
})

describe('the list of errors', () => {
  it('is whole: every error has its status and code written out, or something else measures it', () => {
    expect(
      unreadErrors(),
      'Write status and code of these out. Where that cannot be, measure what is answered, and say so in MEASURED of test/docs/rest-errors.ts.',
    ).toEqual([])
  })
})
