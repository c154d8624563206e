import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from './pages.ts'

/** What the docstring of an option says. */
interface DeclaredOption {
  readonly name: string
  /** The comment above its group of options, up to the next one. */
  readonly group: string
  /** The first paragraph. What follows is for editors alone. */
  readonly summary: string
  readonly standard: string | undefined
  /** The page that says more. */
  readonly see: string | undefined
}

/** Finds an interface in a source file. */
function interfaceIn(path: string, type: string) {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found = file.statements.find((it) => ts.isInterfaceDeclaration(it) && it.name.text === type)
  if (!found || !ts.isInterfaceDeclaration(found)) throw new Error(`${path} declares no interface ${type}.`)
  return { file, members: found.members }
}

/** Lists the names that an interface declares itself, sorted. */
export function declaredNames(path: string, type: string): readonly string[] {
  const { file, members } = interfaceIn(path, type)
  return members.flatMap(({ name }) => name?.getText(file) ?? []).toSorted()
}

/** Reads the docstrings of an interface. */
function declaredOptions(path: string, type: string): readonly DeclaredOption[] {
  const { file, members } = interfaceIn(path, type)
  let group = ''
  return members.flatMap((member) => {
    group = /^ *\/\/ (.*)\.\n\n/m.exec(member.getFullText(file))?.[1] ?? group
    const [doc] = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc)
    if (!member.name || !doc) return []
    const tag = (name: string) => {
      const each = doc.tags?.find(({ tagName }) => tagName.text === name)
      // The parser takes what follows `@see` for a name.
      return (
        each &&
        oneLine(
          each
            .getText(file)
            .replace(`@${name}`, '')
            .replaceAll(/^\s*\*( |$)/gm, ''),
        )
      )
    }
    const paragraphs = (ts.getTextOfJSDocComment(doc.comment) ?? '').split(/\n\s*\n/)
    const said = { summary: oneLine(paragraphs[0] ?? ''), standard: tag('default'), see: tag('see') }
    return [{ name: member.name.getText(file), group, ...said }]
  })
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** Reads what the `@default` of each member of an interface says. */
export function declaredDefaults(path: string, type: string): ReadonlyMap<string, string> {
  const said = declaredOptions(path, type)
  return new Map(said.flatMap(({ name, standard }) => (standard === undefined ? [] : [[name, standard]])))
}

/**
 * Writes the tables of a page anew, each between `<!-- from Type in path -->` and `<!-- end -->`. A group of options has
 * a table of its own.
 */
export function withOptionTables({ path, text }: { path: string; text: string }): string {
  return text.replaceAll(
    /(<!-- from (\w+) in (\S+) -->\n\n)[\s\S]*?(?=<!-- end -->)/g,
    (_all, start: string, type: string, file: string) => {
      const options = declaredOptions(file, type)
      const groups = [...new Set(options.map(({ group }) => group))]
      const tables = groups.map((group) => {
        const rows = options.filter((option) => option.group === group).map((option) => rowOf(option, path))
        return `${group && `**${group}**\n\n`}${tableOf([['option', 'default', 'what it is'], ...rows])}\n`
      })
      return start + tables.map((table) => `${table}\n`).join('')
    },
  )
}

function rowOf({ name, standard = '', summary, see }: DeclaredOption, path: string): readonly string[] {
  const page = see && (see.startsWith(path) ? see.slice(path.length) : see.replace(/^docs\//, ''))
  const cell = isCode(standard)
    ? `\`${standard}\``
    : standard.replace(/^\d+$/, (digits) => Number(digits).toLocaleString('en'))
  const first = page ? `[\`${name}\`](${page})` : `\`${name}\``
  return [first, cell, summary.replace(/^([^.]*)\.$/, '$1')].map((text) => text.replaceAll(/(?<!\\)\|/g, '\\|'))
}

const isCode = (text: string) => /^('.*'|\{.*\}|true|false|\w+\(.*\)|\(.*\) => .*)$/.test(text)

/** Writes a table whose first row is the heading, as the formatter would. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [heading = [], ...others] = rows
  return [line(heading), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...others.map(line)].join('\n')
}

/** Writes the module with the words that the command line's help has for the settings. */
export function settingHelp(): string {
  const words = declaredOptions('src/options/setting-rules.ts', 'SessionSettings').map(
    ({ name, summary, standard = '' }) => {
      const text = `'${summary.replace(/\.$/, '').replaceAll('`', '')} (default: ${standard.replaceAll("'", '')}).'`
      return `  ${name}:${name.length + text.length + 5 > 120 ? '\n    ' : ' '}${text},\n`
    },
  )
  return `// Written from the docstrings of SessionSettings by \`npx vitest run test/docs --update\`.

/** What each setting is, for the help of the command line. */
export const SETTING_HELP = {
${words.join('')}} as const satisfies Record<keyof SessionSettings, string>
`.replace('\n\n', "\n\nimport type { SessionSettings } from '../../options/setting-rules.ts'\n\n")
}
