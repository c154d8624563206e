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
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true }).map((path) => String(path).replaceAll('\\', '/'))
  const docs = below.filter((path) => path.endsWith('.md') && !path.startsWith('api/')).map((path) => `docs/${path}`)
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs.sort()].map(pageAt)
}

/** Finds the fenced blocks of a page. */
export function codeBlocks({ path, text }: Page): readonly CodeBlock[] {
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: language = '', 2: code = '' }) => ({
    path,
    line: text.slice(0, index).split('\n').length + 1,
    language,
    code,
  }))
}

/** A page as it reads without its fenced blocks. */
export const proseOf = ({ text }: Page): string => text.replaceAll(/^```.*\n[\s\S]*?^```$/gm, '')

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
