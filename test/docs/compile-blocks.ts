import { join } from 'node:path'
import ts from 'typescript'
import { cachedHost } from './cached-host.ts'
import { type CodeBlock, ROOT } from './pages.ts'

const PRELUDES = ['prelude.d.ts', 'prelude-of-pages.d.ts'].map((name) => join(ROOT, 'test/docs', name))

/** Files of the reader's own that blocks import, with what they export. */
const READERS_FILES = new Map(
  Object.entries({
    'host.d.mts':
      "export declare const host: import('sessmgr').Host; export declare const settings: import('sessmgr').CodeSettings",
    'app.d.ts': "export declare function createApp(): import('express').Express",
    'limiter.d.mts': "export declare const limiter: import('sessmgr').Sessmgr",
    'limiter.d.cts': "export declare const limiter: import('sessmgr').Sessmgr",
  }).map(([name, text]) => [join(ROOT, 'docs', name), text]),
)

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  strict: true,
  allowJs: true,
  checkJs: true,
  jsx: ts.JsxEmit.ReactJSX,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
  paths: { sessmgr: [join(ROOT, 'src/index.ts')], 'sessmgr/*': [join(ROOT, 'src/*.ts')] },
}

/**
 * Compiles blocks of TypeScript and JavaScript, each as a module of its own, in one program. Tells each error with its
 * place in the page; of JavaScript without those that only ask for types.
 */
export function compileBlocks(blocks: readonly CodeBlock[]): readonly string[] {
  const sources = new Map(blocks.map((block, index) => [join(ROOT, `docs/block-${index}${extensionOf(block)}`), block]))
  const host = cachedHost(OPTIONS)
  const { fileExists, readFile, getSourceFile } = host
  const textOf = (path: string) => {
    const block = sources.get(path)
    if (!block) return READERS_FILES.get(path)
    // Without an import or an export a file would be no module, and could not await.
    return path.endsWith('.cjs') ? block.code : `${block.code}\nexport {}\n`
  }
  host.fileExists = (path) => textOf(path) !== undefined || fileExists(path)
  host.readFile = (path) => textOf(path) ?? readFile(path)
  host.getSourceFile = (path, options, ...rest) => {
    const text = textOf(path)
    return text === undefined ? getSourceFile(path, options, ...rest) : ts.createSourceFile(path, text, options)
  }
  const assets = ['src/build-modules.d.ts'].map((path) => join(ROOT, path))
  const program = ts.createProgram([...sources.keys(), ...PRELUDES, ...assets], OPTIONS, host)
  return [...sources].flatMap(([path, block]) => {
    const file = program.getSourceFile(path)
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return found
      .filter(({ code }) => block.language === 'ts' || !asksForTypes(code))
      .map((diagnostic) => errorIn(block, file, diagnostic))
  })
}

function extensionOf({ language, code }: CodeBlock): string {
  if (language === 'ts') return '.ts'
  return /\brequire\(|\bmodule\.exports\b/.test(code) ? '.cjs' : '.mjs'
}

/** The compiler's errors about an implicit `any`. */
const asksForTypes = (code: number) => code >= 7005 && code < 7060

function errorIn(block: CodeBlock, file: ts.SourceFile | undefined, { start = 0, messageText }: ts.Diagnostic): string {
  const line = file?.getLineAndCharacterOfPosition(start).line ?? 0
  return `${block.path}:${block.line + line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
}
