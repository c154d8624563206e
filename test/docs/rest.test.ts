import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Route, readRoutes, type Schema, schemaOf } from './openapi.ts'
import { codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'
import { restErrors } from './rest-errors.ts'
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

  it('names every parameter and every field of every answer', () => {
    expect(routes.length).toBeGreaterThan(10)
    const page = { path: 'docs/rest-routes.md', text: routesPage(routes) }
    for (const { method, path, operation } of routes) {
      const { text } = sectionOf(page, `${method} ${path}`)
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
  it('lists every error code with its status, and no other', () => {
    const { text } = sectionOf(pageAt('docs/rest.md'), 'Error codes')
    const listed = tableRows(text).map(([code, status]) => `${status} ${codeIn(code)}`)
    expect(listed.toSorted()).toEqual(restErrors())
  })
})
