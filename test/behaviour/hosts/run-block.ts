import { createRequire } from 'node:module'
import ts from 'typescript'
import { codeBlocks, pageAt } from '../../docs/pages.ts'

const nodeRequire = createRequire(import.meta.url)

/**
 * Runs the one block of a page that holds a text, with these packages to import and these names in reach, and returns
 * what it exports.
 */
export function runBlock(
  path: string,
  text: string,
  packages: Readonly<Record<string, object>>,
  names: Readonly<Record<string, unknown>> = {},
): object {
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
  new Function('require', 'exports', ...Object.keys(names), outputText)(load, exported, ...Object.values(names))
  return exported
}
