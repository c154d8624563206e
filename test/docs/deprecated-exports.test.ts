import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DOORS } from './compile-doors.ts'
import { DEPRECATED_NOW, type DeprecatedExport, deprecatedExports, deprecationProblems } from './deprecated-exports.ts'
import { pageAt, ROOT } from './pages.ts'

const page = pageAt('docs/migration.md')

describe('the deprecated exports', () => {
  it('stand in docs/migration.md, each with its door, and no other name does', () => {
    expect(deprecationProblems(deprecatedExports(DOORS), page)).toEqual([])
  })
})

/** A package in which a function, a class and a type have been renamed, and one function was forgotten. */
const RENAMED = `
import { deprecatedAlias } from '${ROOT}src/deprecated-alias.ts'

export function createNew(): number { return 1 }
/** @deprecated Since 3.4.0: call {@link createNew}. */
export const createOld = deprecatedAlias(createNew, { door: 'made-up', oldName: 'createOld', newName: 'createNew' })

export class New {}
/** @deprecated Since 3.4.0: it is called {@link New}. */
export const Old = deprecatedAlias(New, { door: 'made-up', oldName: 'Old', newName: 'New' })

export interface NewOptions { readonly path: string }
/** @deprecated Since 3.4.0: it is called {@link NewOptions}. */
export type OldOptions = NewOptions

/** @deprecated Since 3.4.0: call {@link createNew}. */
export function silent(): number { return createNew() }

/** @deprecated Since 3.4.0: call {@link createNew}. */
export const elsewhere = deprecatedAlias(createNew, { door: 'made-up', oldName: 'createOld', newName: 'createNew' })
`

describe('a made-up door with renamed exports', () => {
  let folder: string
  let found: readonly DeprecatedExport[]
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sessmgr-door-'))
    writeFileSync(join(folder, 'renamed.ts'), RENAMED)
    writeFileSync(join(folder, 'door.ts'), "export * from './renamed.ts'\n")
    found = deprecatedExports({ 'made-up': join(folder, 'door.ts') })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const row = (name: string) => `| \`${name}\` | \`made-up\` | \`createNew\` | 3.4.0 |\n`
  const pageWith = (...names: string[]) => ({
    path: 'docs/migration.md',
    text: `## ${DEPRECATED_NOW}\n\n| old name | door | new name | since |\n| --- | --- | --- | --- |\n${names.map(row).join('')}`,
  })
  const all = ['createOld', 'Old', 'OldOptions', 'silent', 'elsewhere']

  it('has all of them found, and told whether they warn', () => {
    expect(Object.fromEntries(found.map(({ name, warns }) => [name, warns]))).toEqual({
      createOld: true,
      Old: true,
      OldOptions: undefined,
      silent: false,
      elsewhere: false,
    })
  })

  it('fails for each that the table lacks', () => {
    for (const name of all) {
      const listed = pageWith(...all.filter((other) => other !== name))
      expect(deprecationProblems(found, listed)).toContain(
        `${name} of made-up is deprecated: give it a row in "${DEPRECATED_NOW}" in docs/migration.md.`,
      )
    }
  })

  it('fails for a row without such an export', () => {
    expect(deprecationProblems(found, pageWith(...all, 'createNew'))).toContain(
      `createNew of made-up has a row in "${DEPRECATED_NOW}" in docs/migration.md, and no @deprecated.`,
    )
  })

  it('fails for a function that does not warn under its own name, and for nothing else', () => {
    expect(deprecationProblems(found, pageWith(...all))).toEqual([
      expect.stringMatching(/^silent of made-up does not warn/),
      expect.stringMatching(/^elsewhere of made-up does not warn/),
    ])
  })
})
