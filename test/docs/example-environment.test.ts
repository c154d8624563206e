import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { codeIn, pageAt, ROOT, sectionOf, tableRows } from './pages.ts'

/** Every variable that the example application reads: `env.NAME`, or a name given to a function that reads it. */
function variablesRead(): readonly string[] {
  const folder = join(ROOT, 'examples/express-app')
  const files = readdirSync(folder, { recursive: true }).map(String)
  const texts = files.filter((file) => file.endsWith('.ts')).map((file) => readFileSync(join(folder, file), 'utf8'))
  return texts.flatMap((text) =>
    [...text.matchAll(/\benv\.([A-Z_]+)|\(env, '([A-Z_]+)'/g)].map(([, member, name]) => String(member ?? name)),
  )
}

it('the page of the example application has every variable that it reads, and no other', () => {
  const page = pageAt('examples/express-app/README.md')
  const listed = tableRows(sectionOf(page, 'Environment').text).map(([name]) => codeIn(name))
  expect(listed.length).toBeGreaterThan(5)
  expect(listed.toSorted()).toEqual([...new Set(variablesRead())].toSorted())
})
