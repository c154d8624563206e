import ts from 'typescript'

const parsed = new Map<string, ts.SourceFile>()

/** Parses a source once, however many rules ask for it. */
export function parse(path: string, source: string): ts.SourceFile {
  const key = `${path}\n${source}`
  const file = parsed.get(key) ?? ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  parsed.set(key, file)
  return file
}
