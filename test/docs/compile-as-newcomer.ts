import { typeErrors } from './type-errors.ts'

/** What `tsc --init` writes, which is stricter than most. */
const OPTIONS = {
  module: 'NodeNext',
  target: 'ESNext',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  types: [],
}

/** Compiles texts in a folder, by file name without extension, as ES modules and as CommonJS; tells each error. */
export function compileAsNewcomer(folder: string, texts: Readonly<Record<string, string>>): readonly string[] {
  return ['.mts', '.cts'].flatMap((extension) => {
    const files = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name + extension, text]))
    // In CommonJS it would ask for another way to import.
    const errors = typeErrors(folder, files, { ...OPTIONS, verbatimModuleSyntax: extension === '.mts' })
    return errors.map(({ file, text }) => `${file}: ${text}`)
  })
}
