import ts from 'typescript'
import { type CompiledDoors, compileDoors } from './compile-doors.ts'
import { codeIn, type Page, sectionOf, tableRows } from './pages.ts'

/** The section of docs/migration.md with a row for each name that is given up: old name, door, new name, since. */
export const DEPRECATED_NOW = 'What is deprecated now'

/** An export that carries `@deprecated`. */
export interface DeprecatedExport {
  readonly door: string
  readonly name: string
  /** Whether using it warns; undefined for what cannot: a type, or a value that nobody calls. */
  readonly warns: boolean | undefined
}

/** Finds the exports of doors that carry `@deprecated`. */
export function deprecatedExports(doors: Readonly<Record<string, string>>): readonly DeprecatedExport[] {
  const compiled = compileDoors(doors)
  return compiled.doors.flatMap(({ name: door, exports }) =>
    exports
      .filter(({ symbol }) => symbol.getJsDocTags(compiled.checker).some((tag) => tag.name === 'deprecated'))
      .map(({ name, symbol }) => ({ door, name, warns: warnsOf(symbol, { door, name }, compiled) })),
  )
}

function warnsOf(
  symbol: ts.Symbol,
  { door, name }: { door: string; name: string },
  { checker }: CompiledDoors,
): boolean | undefined {
  if (!(symbol.flags & ts.SymbolFlags.Value)) return undefined
  const type = checker.getTypeOfSymbol(symbol)
  if (type.getCallSignatures().length + type.getConstructSignatures().length === 0) return undefined
  const { initializer } = (symbol.valueDeclaration ?? {}) as { initializer?: ts.Expression }
  const made = initializer?.getText() ?? ''
  return /^deprecatedAlias\(/.test(made) && made.includes(`'${door}'`) && made.includes(`'${name}'`)
}

/** Tells in sentences where the table of the page and the code do not agree. */
export function deprecationProblems(deprecated: readonly DeprecatedExport[], page: Page): readonly string[] {
  const listed = tableRows(sectionOf(page, DEPRECATED_NOW).text).map(
    ([name, door]) => `${codeIn(name)} of ${codeIn(door)}`,
  )
  const found = deprecated.map(({ name, door }) => `${name} of ${door}`)
  const table = `"${DEPRECATED_NOW}" in docs/migration.md`
  return [
    ...found.filter((it) => !listed.includes(it)).map((it) => `${it} is deprecated: give it a row in ${table}.`),
    ...listed.filter((it) => !found.includes(it)).map((it) => `${it} has a row in ${table}, and no @deprecated.`),
    ...deprecated
      .filter(({ warns }) => warns === false)
      .map(
        ({ name, door }) => `${name} of ${door} does not warn: make it by deprecatedAlias(), with its door and name.`,
      ),
  ]
}
