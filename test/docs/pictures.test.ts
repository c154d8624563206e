import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sessmgr } from '../../src/index.ts'
import { pages, ROOT } from './pages.ts'

const pictures = readdirSync(join(ROOT, 'docs/images'))
const sourceOf = (name: string) => readFileSync(join(ROOT, 'docs/images', name), 'utf8')

/** Finds the first tag that is not closed, or closes nothing. */
function unbalancedTag(source: string): string | undefined {
  const open: string[] = []
  for (const [tag, slash, name = '', end] of source.matchAll(
    /<(\/?)([a-z]+)(?:\s+[\w-]+="[^"<&]*")*\s*(\/?)>|<[^>]*>?/g,
  )) {
    if (name === '') return tag
    if (slash && open.pop() !== name) return tag
    if (!slash && !end) open.push(name)
  }
  return open.pop()
}

const wordsIn = (source: string, kind = '[^"]*') =>
  [...source.matchAll(new RegExp(`<(?:text|tspan) class="${kind}"[^>]*>([^<]*)<`, 'g'))].map(([, words = '']) => words)

it('every picture is on a page, with words for those who do not see it', () => {
  const all = pages()
  const isShown = (name: string) =>
    all.some(({ text }) => new RegExp(`!\\[.{20,}\\]\\([\\w./]*images/${name}\\)`).test(text))
  expect(pictures.filter((name) => !isShown(name))).toEqual([])
})

describe.each(pictures.filter((name) => name.endsWith('.svg')))('the picture %s', (name) => {
  const source = sourceOf(name)

  it('is well-formed, has a title and a description, and a palette for dark pages', () => {
    expect(unbalancedTag(source)).toBeUndefined()
    expect(unbalancedTag(source.replace('</text>', ''))).toBeDefined()
    expect(source).toMatch(/<title id="title">[^<]+<\/title>\s*<desc id="desc">[^<]{40,}<\/desc>/)
    expect(source).toContain('@media (prefers-color-scheme: dark)')
  })

  it('names things in code as the pages do', () => {
    const names = wordsIn(source, 'code')
    expect(names.length).toBeGreaterThan(0)
    const text = pages()
      .flatMap((page) => (page.text.includes(`images/${name}`) ? [page.text] : []))
      .join('\n')
    expect(names.filter((word) => !text.includes(word))).toEqual([])
  })
})

it('the picture of a login has every mode', async () => {
  const modes = Object.keys(await sessmgr().modes.catalogue())
  expect(wordsIn(sourceOf('login.svg'), 'code').sort()).toEqual([...modes, 'maximum'].sort())
})
