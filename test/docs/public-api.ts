import ts from 'typescript'
import { type CompiledDoors, compileDoors, DOORS } from './compile-doors.ts'
import { detailsOf, membersOf, wordsOf } from './type-names.ts'

/** Names by the heading that they stand under. */
export type Names = ReadonlyMap<string, readonly string[]>

/**
 * Reads what the doors of the package export, as the compiler sees it: values, types, and the names inside everything
 * that people implement, call or hand over.
 */
export function readPublicApi(): Names {
  known ??= read()
  return known
}

// The compiler takes its time.
let known: Names | undefined

function read(): Names {
  const compiled = compileDoors(DOORS)
  const types = compiled.doors
    .flatMap(({ exports }) => exports)
    .filter(({ symbol }) => symbol.flags & (ts.SymbolFlags.Type | ts.SymbolFlags.Class))
  const named = new Set(
    types.flatMap(({ name, symbol }) => [name, ...wordsOf(compiled.checker.getDeclaredTypeOfSymbol(symbol))]),
  )
  const sections = compiled.doors.flatMap(({ name, exports }) => [
    [`Exports of ${name}`, exports.filter(({ symbol }) => isValue(symbol)).map((it) => it.name)] as const,
    [`Types of ${name}`, exports.filter(({ symbol }) => !isValue(symbol)).map((it) => it.name)] as const,
    ...exports.flatMap((it) => shapeOf(it.name, it.symbol, compiled, named)),
  ])
  return new Map(sections.filter(([, names]) => names.length > 0))
}

const isValue = (symbol: ts.Symbol) => (symbol.flags & ts.SymbolFlags.Value) !== 0

function shapeOf(
  name: string,
  symbol: ts.Symbol,
  { checker }: CompiledDoors,
  named: ReadonlySet<string>,
): [heading: string, names: readonly string[]][] {
  // What the hooks are called stands in their catalogue, and what a bus can do at HookBus.
  if (/^(Session|Comment)(Actions|Filters)$|^Hooks$/.test(name)) return []
  if (symbol.flags & ts.SymbolFlags.Function) {
    return [[`Details of ${name}()`, detailsOf(checker.getTypeOfSymbol(symbol), checker, named)]]
  }
  // A class is a value and a type; any other value has no shape of its own.
  if (isValue(symbol) && !(symbol.flags & ts.SymbolFlags.Class)) return []
  const type = checker.getDeclaredTypeOfSymbol(symbol)
  const members = membersOf(type, checker)
  const indexed = checker.getIndexTypeOfType(type, ts.IndexKind.String)
  return [
    [`Members of ${name}`, members.map((member) => member.name)],
    [
      `Details of ${name}`,
      [
        ...members.flatMap((member) =>
          detailsOf(checker.getTypeOfSymbol(member), checker, named).map((detail) => `${member.name}: ${detail}`),
        ),
        ...(indexed ? detailsOf(indexed, checker, named).map((detail) => `{name}: ${detail}`) : []),
      ],
    ],
    [`Values of ${name}`, wordsOf(type)],
  ]
}
