import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Route, readRoutes } from './openapi.ts'
import { codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'
import { restErrors, unreadErrors } from './rest-errors.ts'
import { routesPage } from './rest-routes.ts'

let routes: readonly Route[]
beforeAll(async () => {
  routes = await readRoutes()
}, 240_000)

describe('docs/rest-routes.md', () => {
  it('is what the running application says of itself; `npx vitest run test/docs --update` writes it', async () => {
    await expect(routesPage(routes)).toMatchFileSnapshot(join(ROOT, 'docs/rest-routes.md'))
  })
})

describe('docs/rest.md', () => {
  const page = pageAt('docs/rest.md')
  const general = tableRows(sectionOf(page, 'Error codes').text)
  const ofAddons = tableRows(sectionOf(page, 'Error codes of add-ons').text).flatMap(([routes, status, codes = '']) =>
    codes.split(', ').map((code) => [code, status, codeIn(routes)]),
  )
  it('lists every error code with its status, and no other', () => {
    const listed = (rows: readonly (readonly (string | undefined)[])[]) =>
      rows.map(([code, status]) => `${status} ${codeIn(code)}`)
    const answered = restErrors()
    expect(listed(general).filter((error) => !answered.includes(error))).toEqual([])
    expect(answered.filter((error) => ![...listed(general), ...listed(ofAddons)].includes(error))).toEqual([])
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
