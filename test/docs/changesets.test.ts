import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../.changeset/', import.meta.url)
const changesets = readdirSync(folder).filter((file) => file.endsWith('.md') && file !== 'README.md')

it('names in each changeset the package and the kind of release, and says what users notice', () => {
  const isWhole = (file: string) =>
    /^---\n"sessmgr": (major|minor|patch)\n---\n\n[A-Z`](.|\n){20,}.\n$/.test(
      readFileSync(new URL(file, folder), 'utf8'),
    )
  expect(changesets.filter((file) => !isWhole(file))).toEqual([])
})
