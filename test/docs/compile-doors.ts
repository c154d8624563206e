import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { cachedHost } from './cached-host.ts'
import { ROOT } from './pages.ts'

const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }

/** What people import, with the file behind each. */
export const DOORS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(exports)
    .filter((key) => /^\.(\/[\w-]+)?$/.test(key))
    .map((key) => [key.replace('.', 'sessmgr'), `src/${key === '.' ? 'index' : key.slice(2)}.ts`]),
)

/** Files that the compiler needs beside those that it is asked about. */
const ASSETS = ['src/build-modules.d.ts']

/** A file with the names that it exports, each led back to where it is declared. */
export interface CompiledDoor {
  readonly name: string
  readonly exports: readonly { readonly name: string; readonly symbol: ts.Symbol }[]
}

/** Sources as the compiler sees them. */
export interface CompiledDoors {
  readonly program: ts.Program
  readonly checker: ts.TypeChecker
  readonly doors: readonly CompiledDoor[]
}

/** Compiles files and tells what each exports. A path is one from the root of the repository, or a whole one. */
export function compileDoors(doors: Readonly<Record<string, string>>, config = 'tsconfig.json'): CompiledDoors {
  const path = join(ROOT, config)
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(path, ts.sys.readFile).config,
    ts.sys,
    join(path, '..'),
  )
  const files = [...Object.values(doors), ...ASSETS].map((file) => resolve(ROOT, file))
  const program = ts.createProgram(files, options, cachedHost(options))
  const checker = program.getTypeChecker()
  const compiled = Object.entries(doors).map(([name, file]) => {
    const source = program.getSourceFile(resolve(ROOT, file))
    const module = source && checker.getSymbolAtLocation(source)
    if (!module) throw new Error(`${file} is no module that the compiler can read.`)
    const all = checker.getExportsOfModule(module).map((symbol) => ({
      name: symbol.name,
      symbol: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    }))
    return { name, exports: all }
  })
  return { program, checker, doors: compiled }
}
