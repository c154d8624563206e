import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A page of the documentation. */
export interface Page {
  /** Path from the root of the repository. */
  readonly path: string
  readonly text: string
}

/** A fenced block of a page. */
export interface CodeBlock {
  readonly path: string
  /** Line of the page, from 1, on which the code begins. */
  readonly line: number
  readonly language: string
  readonly code: string
}

/** A section of a page: its heading, and what stands below it up to the next heading of the same or a higher level. */
export interface Section {
  readonly title: string
  readonly text: string
}

/** Reads a page. */
export const pageAt = (path: string): Page => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })

/** Every page that people read, without the reference that is generated from the code. */
export function pages(): readonly Page[] {
  const below = (folder: string) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .map((path) => `${folder}/${String(path).replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.md'))
      .sort()
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'))
  return [...top.sort(), ...['.changeset', '.github', 'docs', 'examples'].flatMap(below)].map(pageAt)
}

/** Finds the fenced blocks of a page, in lists and quotations too. */
export function codeBlocks(page: Page): readonly CodeBlock[] {
  return splitAtFences(page).blocks
}

/** A page as it reads without its fenced blocks. */
export const proseOf = (page: Page): string => splitAtFences(page).prose.join('\n')

/** What stands before a fence: marks of quotations and lists, and blanks. */
const FENCE = /^((?:\s|>|[-*+]\s|\d+[.)]\s)*)(`{3,}|~{3,})([^`]*)$/

function splitAtFences({ path, text }: Page): { blocks: readonly CodeBlock[]; prose: readonly string[] } {
  const lines = text.split('\n')
  const [blocks, prose]: [CodeBlock[], string[]] = [[], []]
  for (let index = 0; index < lines.length; index++) {
    const [, before = '', fence = '', language = ''] = FENCE.exec(lines[index] ?? '') ?? []
    if (fence === '') {
      prose.push(lines[index] ?? '')
      continue
    }
    const start = index + 1
    const isEnd = (line: string) => {
      const bare = line.replace(/^[\s>]*/, '').trimEnd()
      return bare.length >= fence.length && bare === fence.charAt(0).repeat(bare.length)
    }
    index = lines.findIndex((line, at) => at >= start && isEnd(line))
    if (index === -1) throw new Error(`${path}:${start}: the fence is not closed.`)
    const margin = new RegExp(`^[\\s>]{0,${before.length}}`)
    const code = lines.slice(start, index).map((line) => `${line.replace(margin, '')}\n`)
    blocks.push({ path, line: start + 1, language: language.trim(), code: code.join('') })
  }
  return { blocks, prose }
}

/** Finds a section by the text of its heading, at any level. */
export function sectionOf(page: Page, title: string): Section {
  const lines = page.text.split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === title)
  if (start === -1) throw new Error(`${page.path} has no section "${title}".`)
  const level = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 1
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => (/^(#+) /.exec(line)?.[1]?.length ?? Number.POSITIVE_INFINITY) <= level)
  return { title, text: rest.slice(0, end === -1 ? undefined : end).join('\n') }
}

/** Reads the cells of every table row in a text, without the rows of headings. */
export function tableRows(text: string): readonly (readonly string[])[] {
  const rows = text.split('\n').map((line) => (/^\|.*\|$/.test(line) ? line : undefined))
  const isHeading = (index: number) =>
    /^\|[-| :]+\|$/.test(rows[index] ?? '') || /^\|[-| :]+\|$/.test(rows[index + 1] ?? '')
  return rows.flatMap((row, index) =>
    row === undefined || isHeading(index)
      ? []
      : [
          row
            .slice(1, -1)
            .split(/(?<!\\)\|/)
            .map((cell) => cell.trim()),
        ],
  )
}

/** The text inside the first pair of backquotes. */
export const codeIn = (cell = ''): string => /`([^`]+)`/.exec(cell)?.[1] ?? ''
