import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { pageAt, ROOT } from './pages.ts'

const { exports } = JSON.parse(pageAt('package.json').text)
const doors = Object.keys(exports)
  .filter((door) => !door.endsWith('.json'))
  .map((door) => join(ROOT, `src/${door === '.' ? 'index' : door.slice(2)}.ts`))
/** Methods that applications call on what a function returns. */
const MEMBERS = {
  SessionManager: 'all',
  Sessmgr: ['login', 'logout', 'notice', 'signedOut', 'nonce', 'eraseUser', 'close'],
}

it('every function that applications call has a sentence and an example in its doc comment', () => {
  const { options } = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: () => {},
    },
  ) ?? { options: {} }
  const program = ts.createProgram([...doors, join(ROOT, 'src/build-modules.d.ts')], options)
  const checker = program.getTypeChecker()
  const exported = doors.flatMap((door) => {
    const file = program.getSourceFile(door)
    const symbol = file && checker.getSymbolAtLocation(file)
    return (symbol ? checker.getExportsOfModule(symbol) : []).map((one) =>
      one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one,
    )
  })
  const isCalled = (symbol: ts.Symbol) => {
    if (!(symbol.flags & ts.SymbolFlags.Value)) return false
    const type = checker.getTypeOfSymbol(symbol)
    return type.getCallSignatures().length + type.getConstructSignatures().length > 0
  }
  const members = Object.entries(MEMBERS).flatMap(([name, wanted]) => {
    const type = exported.find((symbol) => symbol.name === name)
    const all = type ? checker.getDeclaredTypeOfSymbol(type).getProperties() : []
    return all.filter((member) => wanted === 'all' || wanted.includes(member.name))
  })
  const called = [...exported.filter(isCalled), ...members]
  expect(called.length).toBeGreaterThan(45)
  const lacks = called.filter(
    (symbol) =>
      symbol.getDocumentationComment(checker).length === 0 ||
      !symbol.getJsDocTags().some(({ name, text }) => name === 'example' && ts.displayPartsToString(text).length > 20),
  )
  expect([...new Set(lacks.map(({ name }) => name))]).toEqual([])
})
