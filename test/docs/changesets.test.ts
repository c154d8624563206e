import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const folder = new URL('../../.changeset/', import.meta.url)
const changesets = readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'README.md')

test.each(changesets)('%s names the package and the kind of release, and says what users notice', (file) => {
  const text = readFileSync(new URL(file, folder), 'utf8')
  expect(text).toMatch(/^---\n"sessmgr": (major|minor|patch)\n---\n\n[A-Z`](.|\n){20,}.\n$/)
})
