import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type AddonError, addonErrors } from './addon-errors.ts'
import { type Route, readRoutes, type Schema, schemaOf } from './openapi.ts'
import { codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'
import { restErrors, unreadErrors, writtenErrors } from './rest-errors.ts'
import { routesPage } from './rest-routes.ts'

let routes: readonly Route[]
beforeAll(async () => {
  routes = await readRoutes()
}, 240_000)

const fieldsOf = (schema: Schema): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    name,
    ...fieldsOf(field),
    ...fieldsOf(field.items ?? {}),
  ])

describe('docs/rest-routes.md', () => {
  it('is what the running application says of itself; `npx vitest run test/docs --update` writes it', async () => {
    await expect(routesPage(routes)).toMatchFileSnapshot(join(ROOT, 'docs/rest-routes.md'))
  })

  it('shows the bounds of parameters', () => {
    const page = { path: 'docs/rest-routes.md', text: routesPage(routes) }
    for (const [route, bounds] of [
      ['GET /sessmgr/v1/people', 'from 1 to 100'],
      ['GET /sessmgr/v1/audit', 'from 1 to 200'],
      ['GET /sessmgr/v1/people/search', '2 to 200 characters'],
      ['POST /sessmgr/v1/sessions/destroy', '1 to 100 items'],
    ] as const) {
      expect(sectionOf(page, route).text).toContain(`\`, ${bounds} |`)
    }
  })

  it('names every parameter and every field of every answer', () => {
    expect(routes.length).toBeGreaterThan(10)
    const page = { path: 'docs/rest-routes.md', text: routesPage(routes) }
    for (const { method, path, operation } of routes) {
      const heading = new RegExp(
        `^## ((?:[A-Z]+, )*${method}(?:, [A-Z]+)* ${path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')})$`,
        'm',
      )
      const { text } = sectionOf(page, heading.exec(page.text)?.[1] ?? `${method} ${path}`)
      const body = operation.requestBody ? schemaOf(operation.requestBody) : {}
      const parameters = [...operation.parameters.map(({ name }) => name), ...Object.keys(body.properties ?? {})]
      for (const name of parameters) expect(text, `${method} ${path}`).toContain(`| \`${name}\` |`)
      for (const name of fieldsOf(schemaOf(operation.responses[200]))) {
        expect(text, `${method} ${path}`).toContain(`${name}: `)
      }
    }
  })
})

describe('docs/rest.md', () => {
  const page = pageAt('docs/rest.md')
  const general = tableRows(sectionOf(page, 'Error codes').text)
  const ofAddons = tableRows(sectionOf(page, 'Error codes of add-ons').text).flatMap(([routes, status, codes = '']) =>
    codes.split(', ').map((code) => [code, status, codeIn(routes)]),
  )
  let measured: readonly AddonError[]
  beforeAll(async () => {
    measured = await addonErrors()
  }, 240_000)

  it('lists every error code with its status, and no other', () => {
    const listed = [...general, ...ofAddons].map(([code, status]) => `${status} ${codeIn(code)}`)
    const answered = [...restErrors(), ...measured.map(({ status, code }) => `${status} ${code}`)]
    expect([...new Set(listed)].sort()).toEqual([...new Set(answered)].sort())
  })

  it('lists what the routes of the add-ons answer, each where it does', () => {
    const listed = ofAddons.map(([code, status, routes]) => `${routes}: ${status} ${codeIn(code)}`)
    const answered = measured.map(({ routes, status, code }) => `${routes}: ${status} ${code}`)
    expect(listed.toSorted()).toEqual(answered.toSorted())
  })

  it('names everything that stands in the data of an answer of the add-ons, and when to come back', () => {
    const { text } = sectionOf(page, 'Error codes of add-ons')
    for (const { data } of measured) for (const name of data) expect(text).toContain(`\`data.${name}\``)
    for (const { status, retryAfter } of measured) expect(retryAfter).toBe(status === 503 ? '30' : undefined)
    expect(text).toContain('`Retry-After: 30`')
  })
})

describe('the list of errors', () => {
  it('is whole: every error has its status and code written out, or something else measures it', () => {
    expect(
      unreadErrors(),
      'Write status and code of these out. Where that cannot be, measure what is answered, and say so in MEASURED of test/docs/rest-errors.ts.',
    ).toEqual([])
  })

  it.each([
    'new RestError(status, code, message)',
    "new RestError(late ? 503 : 500, 'rest_internal_error', 'No.')",
    "new RestError(400, ok ? 'rest_good' : 'rest_bad', 'No.')",
    'new RestError(...parts)',
    "errorBody(code, 'No.', 403)",
    'class LateError extends RestError {}',
    "import { RestError as Refusal } from './rest-error.ts'",
    'const Refusal = RestError',
  ])('would notice %s', (source) => {
    expect(writtenErrors('src/routes/new-route.ts', source)).toEqual({ errors: [], unread: [expect.any(String)] })
  })

  it('reads what is written out', () => {
    const source =
      "throw new RestError(\n  418,\n  'rest_teapot',\n  'No.',\n)\nerrorBody('rest_forbidden', 'No.', 403)"
    expect(writtenErrors('src/a.ts', source)).toEqual({ errors: ['418 rest_teapot', '403 rest_forbidden'], unread: [] })
  })
})
