import ts from 'typescript'

const files = new Map<string, ts.SourceFile | undefined>()

/** Creates a compiler host that reads and parses each file once, however many programs ask for it. */
export function cachedHost(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (path, how, ...rest) => {
    if (!path.includes('node_modules')) return getSourceFile(path, how, ...rest)
    const key = `${path} ${JSON.stringify(how)}`
    if (!files.has(key)) files.set(key, getSourceFile(path, how, ...rest))
    return files.get(key)
  }
  return host
}
