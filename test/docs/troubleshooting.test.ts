import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { STATUS } from '../../src/ground/errors.ts'
import { pageAt, ROOT } from './pages.ts'

const headings = [...pageAt('docs/troubleshooting.md').text.matchAll(/^### (.*)$/gm)].map(([, title = '']) => title)

/** All of the source as one text, in which a sentence that goes on in the next line reads as one. */
function source(): string {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true }).map(String)
  const read = (file: string) => readFileSync(join(ROOT, 'src', file), 'utf8')
  return files
    .filter((file) => file.endsWith('.ts'))
    .map(read)
    .join('\n')
}

describe('docs/troubleshooting.md', () => {
  it('has each error code', () => {
    expect(headings.filter((title) => title.startsWith('`')).sort()).toEqual(
      Object.keys(STATUS)
        .map((code) => `\`${code}\``)
        .sort(),
    )
  })

  it('quotes warnings that there are', () => {
    const text = source()
    const quoted = headings.flatMap((title) => /^"(.*)"$/.exec(title)?.[1] ?? [])
    expect(quoted.length).toBeGreaterThan(14)
    expect(quoted.filter((words) => !text.includes(words))).toEqual([])
  })

  it('has each warning about how an application is set up', () => {
    const warned = [...source().matchAll(/warnOnce\(\s*(?:this\.#)?logger,\s*[`']([^`'$(]{12,})/g)].map(
      ([, words = '']) => words,
    )
    expect(warned.length).toBeGreaterThan(4)
    const quotes = headings.flatMap((title) => /^"(.*)"$/.exec(title)?.[1] ?? [])
    const has = (words: string) => quotes.some((quote) => words.startsWith(quote) || quote.startsWith(words))
    expect(warned.filter((words) => !has(words))).toEqual([])
  })
})
