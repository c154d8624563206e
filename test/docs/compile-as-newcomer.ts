import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import ts from 'typescript'
import { cachedHost } from './cached-host.ts'

/** What `tsc --init` writes, which is stricter than most. */
const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ESNext,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  noEmit: true,
  types: [],
}

/** Compiles texts in a folder, by file name without extension, as ES modules and as CommonJS; tells each error. */
export function compileAsNewcomer(folder: string, texts: Readonly<Record<string, string>>): readonly string[] {
  return ['.mts', '.cts'].flatMap((extension) => {
    const files = Object.entries(texts).map(([name, text]) => {
      const file = `${folder}/${name}${extension}`
      writeFileSync(file, text)
      return file
    })
    // In CommonJS it would ask for another way to import.
    const options = { ...OPTIONS, verbatimModuleSyntax: extension === '.mts' }
    const program = ts.createProgram(files, options, cachedHost(options))
    return ts
      .getPreEmitDiagnostics(program)
      .map(
        ({ file, messageText }) =>
          `${relative(folder, file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      )
  })
}
