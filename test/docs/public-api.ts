import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from './pages.ts'

/** Interfaces whose members people use by name, beside everything that is called options or settings. */
const SERVICES = [
  'ApplicationPasswords',
  'HookBus',
  'Host',
  'HostPosts',
  'HostUsers',
  'LazyComments',
  'OptionDefinition',
  'OptionRegistry',
  'RequestState',
  'SessionManager',
  'SessionRecord',
  'SettingsService',
  'Sessmgr',
  'SessmgrStore',
  'StandaloneComments',
]

/** The public names of one door of the package. */
export interface Door {
  /** What people import it by. */
  readonly name: string
  readonly values: readonly string[]
  readonly types: readonly string[]
  /** Members of the services, options and settings among the types. */
  readonly members: Readonly<Record<string, readonly string[]>>
}

/** What the code exports. */
export interface PublicApi {
  readonly doors: readonly Door[]
  readonly errorCodes: readonly string[]
}

/** Reads what the doors of the package export, as the compiler sees it. */
export function readPublicApi(doors: Readonly<Record<string, string>>): PublicApi {
  const config = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(
    { ...config.config, include: [], files: ['src/index.ts'] },
    ts.sys,
    ROOT,
  )
  const assets = ['src/lazycomments-assets.d.ts', 'src/lua-text.d.ts', 'src/admin-folder.d.ts']
  const files = [...Object.values(doors), ...assets].map((path) => join(ROOT, path)).filter(ts.sys.fileExists)
  const program = ts.createProgram(files, options)
  const checker = program.getTypeChecker()

  const read = Object.entries(doors).map(([name, path]): Door => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(join(ROOT, path)) as ts.SourceFile)
    const symbols = checker.getExportsOfModule(module as ts.Symbol).map((symbol) => ({
      name: symbol.name,
      symbol: symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
    }))
    const isValue = ({ symbol }: { symbol: ts.Symbol }) => (symbol.flags & ts.SymbolFlags.Value) !== 0
    const types = symbols.filter((it) => !isValue(it))
    const withMembers = types.filter(({ name }) => SERVICES.includes(name) || /(Options|Settings)$/.test(name))
    const membersOf = (symbol: ts.Symbol) =>
      checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)).map((property) => property.name)
    return {
      name,
      values: symbols.filter(isValue).map(({ name }) => name),
      types: types.map(({ name }) => name),
      members: Object.fromEntries(withMembers.map(({ name, symbol }) => [name, membersOf(symbol)])),
    }
  })
  return { doors: read, errorCodes: literalsOf('SessmgrErrorCode') }

  function literalsOf(alias: string): string[] {
    const file = program.getSourceFile(join(ROOT, 'src/errors.ts')) as ts.SourceFile
    const declaration = file.statements.filter(ts.isTypeAliasDeclaration).find(({ name }) => name.text === alias)
    const type = checker.getTypeAtLocation(declaration as ts.Node)
    return (type.isUnion() ? type.types : [type]).flatMap((member) => (member.isStringLiteral() ? member.value : []))
  }
}
