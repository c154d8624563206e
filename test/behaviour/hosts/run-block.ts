import { createRequire } from 'node:module'
import ts from 'typescript'
import { codeBlocks, pageAt } from '../../docs/pages.ts'

const nodeRequire = createRequire(import.meta.url)

/** Runs the one block of a page that holds a text, with these packages to import, and returns what it exports. */
export function runBlock(path: string, text: string, packages: Readonly<Record<string, object>>): object {
  const [block, another] = codeBlocks(pageAt(path)).filter(({ code }) => code.includes(text))
  if (!block || another) throw new Error(`Not one block of ${path} holds "${text}".`)
  const compilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    experimentalDecorators: true,
  }
  const { outputText } = ts.transpileModule(block.code, { compilerOptions })
  const exported = {}
  const load = (name: string) => packages[name] ?? nodeRequire(name)
  new Function('require', 'exports', outputText)(load, exported)
  return exported
}
