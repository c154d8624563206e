import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from './pages.ts'

/** Reads what the `@default` of each member of an interface says. */
export function declaredDefaults(path: string, type: string): ReadonlyMap<string, string> {
  const file = ts.createSourceFile(path, readFileSync(join(ROOT, path), 'utf8'), ts.ScriptTarget.Latest, true)
  const found = file.statements.find((it) => ts.isInterfaceDeclaration(it) && it.name.text === type)
  if (!found || !ts.isInterfaceDeclaration(found)) throw new Error(`${path} declares no interface ${type}.`)
  return new Map(
    found.members.flatMap((member) => {
      const tag = ts.getJSDocTags(member).find(({ tagName }) => tagName.text === 'default')
      const text = tag && ts.getTextOfJSDocComment(tag.comment)
      return text === undefined || !member.name ? [] : [[member.name.getText(file), text.replaceAll(/\s+/g, ' ')]]
    }),
  )
}
