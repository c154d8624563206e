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

/** Does with a program what the page says: adds the stores below its imports, and passes them on. */
export function withStores(code: string, added = '', changed = ''): string {
  const [imports = '', ...rest] = code.split(/\n(?!import )/)
  const limiter = changed.trim().replace(' })', ', sessionUser: (data) => data.userId })')
  const isOwn = code.includes('sessionUser')
  return `${imports}\n${added}\n${rest.join('\n')}`
    .replace(/^const sessionStore = new session\.MemoryStore\(\)\n/m, '')
    .replace(/^const limiter = sessmgr\([\s\S]*?\}\)\n(?=app)/m, () => `${isOwn ? limiter : changed.trim()}\n`)
}

/** Writes `require` for each import, as the page says. */
export function asCommonJs(code: string): string {
  return code.replaceAll(/^import (.*) from ('.*')$/gm, 'const $1 = require($2)')
}
