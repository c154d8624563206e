import ts from 'typescript'
import { ROOT } from './pages.ts'

/** Tells whether this project declares something, and not the language or another package. */
function isOurs({ declarations = [] }: ts.Symbol): boolean {
  return declarations.some((it) => {
    const { fileName } = it.getSourceFile()
    return fileName.startsWith(`${ROOT}src/`)
  })
}

/** Tells whether people outside of a class may use its member. */
function isPublic({ name, declarations = [] }: ts.Symbol): boolean {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
  return !name.startsWith('__') && declarations.every((it) => (ts.getCombinedModifierFlags(it) & hidden) === 0)
}

/** Gives the public members of a type that this project declares; of each part of a union. */
export function membersOf(type: ts.Type, checker: ts.TypeChecker): readonly ts.Symbol[] {
  const parts = type.isUnion() ? type.types : [type]
  const members = parts.flatMap((part) => checker.getPropertiesOfType(part)).filter((it) => isOurs(it) && isPublic(it))
  return [...new Map(members.map((member) => [member.name, member])).values()]
}

/** Gives the words of a type that is one of several. */
export function wordsOf(type: ts.Type): string[] {
  return (type.isUnion() ? type.types : [type]).flatMap((part) => (part.isStringLiteral() ? part.value : []))
}

/**
 * Lists what a type is made of where no exported type names it: members of the objects that a function takes, is called
 * back with and gives, and the words that a value may be.
 *
 * @param known Names of the types that are listed by themselves, and their words.
 */
export function detailsOf(type: ts.Type, checker: ts.TypeChecker, known: ReadonlySet<string>): string[] {
  const seen = new Set<ts.Type>()
  const words = (type: ts.Type) =>
    wordsOf(type)
      .filter((word) => !known.has(word))
      .map((word) => `'${word}'`)

  function namesIn(type: ts.Type): string[] {
    if (seen.has(type) || known.has((type.aliasSymbol ?? type.symbol)?.name ?? '')) return []
    seen.add(type)
    if (type.isUnionOrIntersection()) return [...words(type), ...type.types.flatMap(namesIn)]
    const { symbol } = type
    // Promises, arrays and the like hold what counts.
    const inner = checker.getTypeArguments(type as ts.TypeReference)
    if (symbol && !isOurs(symbol)) return inner.flatMap(namesIn)
    const signatures = type.getCallSignatures()
    const called = signatures.flatMap((signature) => [
      ...signature.getParameters().map((parameter) => checker.getTypeOfSymbol(parameter)),
      signature.getReturnType(),
    ])
    const indexed = checker.getIndexTypeOfType(type, ts.IndexKind.String)
    return [
      ...(type.isTypeParameter() ? [] : [...inner, ...called, ...(indexed ? [indexed] : [])].flatMap(namesIn)),
      ...membersOf(type, checker).flatMap((member) => [member.name, ...namesIn(checker.getTypeOfSymbol(member))]),
    ]
  }

  return [...new Set(namesIn(type))]
}
