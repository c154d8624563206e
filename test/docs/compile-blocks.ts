import { rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type CodeBlock, ROOT } from './pages.ts'
import { type CompilerError, typeErrors } from './type-errors.ts'

/** Below the root, where the names of packages lead to those of the repository. */
const FOLDER = join(ROOT, 'test-output', 'blocks')

/** Files of the reader's own that blocks import, with what they export. */
const READERS_FILES = {
  'host.d.mts':
    "export declare const host: import('sessmgr').Host; export declare const settings: import('sessmgr').CodeSettings",
  'mysql.d.mts':
    "export declare function mysqlDriver(pool: import('mysql2/promise').Pool): import('sessmgr/document').DocumentDriver",
  'app.module.d.ts': 'export declare class AppModule {}',
  'app.d.ts': "export declare function createApp(): import('express').Express",
  'limiter.d.ts':
    "export declare const limiter: import('sessmgr').Sessmgr, sessionStore: import('express-session').MemoryStore",
  'limiter.d.mts': "export declare const limiter: import('sessmgr').Sessmgr",
  'sessions.d.ts':
    'export declare function signIn(request: Request, userId: string): Promise<string | undefined>\n' +
    'export declare function route(handle: (request: Request) => Promise<Response>): (request: Request) => unknown',
  'limiter.d.cts': "export declare const limiter: import('sessmgr').Sessmgr",
}

const OPTIONS = {
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  allowImportingTsExtensions: true,
  resolveJsonModule: true,
  strict: true,
  allowJs: true,
  checkJs: true,
  jsx: 'react-jsx',
  // For NestJS.
  experimentalDecorators: true,
  types: ['node'],
  paths: { sessmgr: [join(ROOT, 'src/index.ts')], 'sessmgr/*': [join(ROOT, 'src/*.ts')], '@/lib/*': ['./*.d.ts'] },
}

/** The preludes, and the types of files that only the build can read, as files that refer to them. */
const PRELUDES = [
  'test/docs/prelude.d.ts',
  'test/docs/prelude-of-pages.d.ts',
  'test/docs/prelude-of-packages.d.ts',
  'test/support/koa-bodyparser.d.ts',
  'src/build-modules.d.ts',
].map((path) => `/// <reference path="${relative(FOLDER, join(ROOT, path))}" />\n`)

/**
 * Compiles blocks of TypeScript and JavaScript, each as a module of its own, in one program. Tells each error with its
 * place in the page; of JavaScript without those that only ask for types.
 */
export function compileBlocks(blocks: readonly CodeBlock[]): readonly string[] {
  const named = new Map(blocks.map((block, index) => [`block-${index}${extensionOf(block)}`, block]))
  const files = Object.fromEntries([...named].map(([name, block]) => [name, asModule(name, block)]))
  rmSync(FOLDER, { recursive: true, force: true })
  const errors = typeErrors(FOLDER, { ...files, ...READERS_FILES, 'preludes.d.ts': PRELUDES.join('') }, OPTIONS)
  // Sources are checked by rules of their own.
  return errors
    .filter(({ file }) => !file.startsWith('../'))
    .flatMap((error) => {
      const block = named.get(error.file)
      if (!block) return [`${error.file}:${error.line}: ${error.text}`]
      return block.language === 'ts' || !asksForTypes(error) ? [errorIn(block, error)] : []
    })
}

/** Without an import or an export a file would be no module, and could not await. */
function asModule(name: string, { code }: CodeBlock): string {
  // Next.js finds a file without its extension, and from any folder.
  const found = code.replace(/'(\.\.\/)+lib\//, "'@/lib/")
  return name.endsWith('.cjs') ? found : `${found}\nexport {}\n`
}

function extensionOf({ language, code }: CodeBlock): string {
  if (language === 'ts') return '.ts'
  return /\brequire\(|\bmodule\.exports\b/.test(code) ? '.cjs' : '.mjs'
}

/** The compiler's errors about an implicit `any`. */
const asksForTypes = ({ code }: CompilerError) => code >= 7005 && code < 7060

function errorIn(block: CodeBlock, { line, text }: CompilerError): string {
  return `${block.path}:${block.line + line - 1}: ${text}`
}
