import { join } from 'node:path'
import ts from 'typescript'
import type { CompiledDoors } from '../docs/compile-doors.ts'
import { ROOT } from '../docs/pages.ts'

/**
 * Finds every `any` that users of the doors meet: in exported values and types, and from there through members,
 * parameters, results and type arguments, as far as `folder` declares them. A place is told from the nearest name on.
 */
export function findAny({ checker, doors }: CompiledDoors, folder = join(ROOT, 'src')): readonly string[] {
  const found = new Set<string>()
  const seen = new Set<ts.Type>()

  const isOwn = (symbol: ts.Symbol | undefined) =>
    symbol?.declarations?.some((it) => it.getSourceFile().fileName.startsWith(folder)) ?? false
  const visitNode = (node: ts.TypeNode | undefined, place: string) => {
    if (node) visit(checker.getTypeFromTypeNode(node), place)
  }

  function visit(type: ts.Type, place: string): void {
    if (type.flags & ts.TypeFlags.Any) {
      found.add(place)
      return
    }
    const { aliasSymbol, aliasTypeArguments = [] } = type
    if (aliasSymbol && (isOwn(aliasSymbol) || aliasTypeArguments.length > 0)) {
      for (const argument of aliasTypeArguments) visit(argument, `${place}<>`)
      const declared = isOwn(aliasSymbol) ? checker.getDeclaredTypeOfSymbol(aliasSymbol) : undefined
      if (declared) visitShape(declared, aliasSymbol.name)
      return
    }
    visitShape(type, place)
  }

  /** Goes into a type. Of a generic one it takes the arguments and the declaration, which every use has in common. */
  function visitShape(type: ts.Type, place: string): void {
    if (seen.has(type)) return
    seen.add(type)
    if (type.flags & ts.TypeFlags.Any) found.add(place)
    else if (type.isUnionOrIntersection()) for (const part of type.types) visit(part, place)
    else if (type.flags & ts.TypeFlags.Conditional) {
      const { checkType, node } = (type as ts.ConditionalType).root
      visit(checkType, place)
      for (const branch of [node.trueType, node.falseType]) visitNode(branch, place)
    } else if (type.flags & ts.TypeFlags.TypeParameter) {
      for (const declaration of type.symbol?.declarations ?? []) {
        if (!ts.isTypeParameterDeclaration(declaration)) continue
        for (const node of [declaration.constraint, declaration.default])
          visitNode(node, `${place}<${type.symbol.name}>`)
      }
    } else if (type.flags & ts.TypeFlags.Object) visitObject(type as ts.ObjectType, place)
  }

  function visitObject(type: ts.ObjectType, place: string): void {
    if (type.objectFlags & ts.ObjectFlags.Reference) {
      const { target } = type as ts.TypeReference
      for (const argument of checker.getTypeArguments(type as ts.TypeReference)) visit(argument, `${place}<>`)
      if (target !== type) {
        if (isOwn(target.symbol)) visitShape(target, place)
        return
      }
    }
    const isMapped = (type.objectFlags & ts.ObjectFlags.Mapped) !== 0
    if (!isOwn(type.symbol) && !isMapped) return
    const name = type.isClassOrInterface() ? type.symbol.name : place
    if (type.isClassOrInterface()) for (const base of checker.getBaseTypes(type)) visit(base, name)
    const [declaration] = type.symbol?.declarations ?? []
    if (declaration && ts.isMappedTypeNode(declaration)) visitNode(declaration.type, `${name}[]`)
    for (const member of checker.getPropertiesOfType(type)) {
      const isMade = member.declarations === undefined
      if ((isMade || isOwn(member)) && !isPrivate(member))
        visit(checker.getTypeOfSymbol(member), `${name}.${member.name}`)
    }
    for (const { type: indexed } of checker.getIndexInfosOfType(type)) visit(indexed, `${name}[]`)
    for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()]) {
      visitSignature(signature, name)
    }
  }

  function visitSignature(signature: ts.Signature, place: string): void {
    for (const parameter of signature.typeParameters ?? []) visit(parameter, place)
    for (const parameter of signature.parameters) {
      visit(checker.getTypeOfSymbol(parameter), `${place}(${parameter.name})`)
    }
    visit(signature.getReturnType(), `${place}()`)
  }

  for (const { exports } of doors) {
    for (const { name, symbol } of exports) {
      if (symbol.flags & ts.SymbolFlags.Value) visit(checker.getTypeOfSymbol(symbol), name)
      if (symbol.flags & ts.SymbolFlags.Type) visitShape(checker.getDeclaredTypeOfSymbol(symbol), name)
    }
  }
  return [...found].sort()
}

function isPrivate(member: ts.Symbol): boolean {
  return (member.declarations ?? []).some((it) => {
    if (ts.getCombinedModifierFlags(it) & ts.ModifierFlags.Private) return true
    return ts.isPropertyDeclaration(it) && ts.isPrivateIdentifier(it.name)
  })
}
