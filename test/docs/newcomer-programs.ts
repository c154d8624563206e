import { codeBlocks, pageAt, sectionOf } from './pages.ts'

/** A whole program of a page, as an ES module. */
export interface NewcomerProgram {
  readonly name: string
  readonly code: string
  /** What TypeScript needs below it. */
  readonly declaration: string
}

const PATH = 'docs/getting-started.md'

/** Reads the blocks of code of a section. */
export function blocksOf(path: string, title: string): readonly string[] {
  const { text } = sectionOf(pageAt(path), title)
  return codeBlocks({ path, text }).flatMap(({ language, code }) => (language === 'ts' ? [code] : []))
}

/** Reads the two programs of docs/getting-started.md. */
export function newcomerPrograms(): readonly NewcomerProgram[] {
  return ['With Passport', 'Without Passport'].map((title) => {
    const [code = '', declaration = ''] = blocksOf(PATH, title)
    return { name: title.toLowerCase().replace(' ', '-'), code, declaration }
  })
}

/** Does with a program what the page says: adds lines at its top, and changes those that make the sessions and the limiter. */
export function withRedis(code: string, [added = '', changed = '']: readonly string[]): string {
  const made = /^app\.use\(\s*session\([\s\S]*?^app\.use\((?:limiter|sessmgr\(.*)\).*\n/m
  return `${added}\n${code.replace(made, () => changed)}`
}

/** Writes `require` for each import, as the page says. */
export function asCommonJs(code: string): string {
  return code.replaceAll(/^import (.*) from ('.*')$/gm, 'const $1 = require($2)')
}
