import ts from 'typescript'

/** An import of a file, also of types. */
export interface Import {
  /** The path as written; undefined if it is computed. */
  readonly from: string | undefined
  readonly typeOnly: boolean
}

/** Finds every import of a source: static and dynamic imports, re-exports, inline types, augmentations and require. */
export function importsOf(file: ts.SourceFile): readonly Import[] {
  const found: Import[] = file.typeReferenceDirectives.map(({ fileName }) => ({ from: fileName, typeOnly: true }))
  const add = (specifier: ts.Node | undefined, typeOnly: boolean) => {
    found.push({ from: specifier && ts.isStringLiteralLike(specifier) ? specifier.text : undefined, typeOnly })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      add(node.moduleSpecifier, node.isTypeOnly)
    } else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      add(node.moduleReference.expression, node.isTypeOnly)
    } else if (ts.isImportTypeNode(node)) {
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true)
    } else if (ts.isModuleDeclaration(node) && ts.isStringLiteral(node.name) && ts.isExternalModule(file)) {
      add(node.name, true)
    } else if (ts.isCallExpression(node) && isLoading(node.expression)) {
      add(node.arguments[0], false)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function isLoading(expression: ts.Expression): boolean {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return true
  return ts.isIdentifier(expression) && expression.text === 'require'
}
