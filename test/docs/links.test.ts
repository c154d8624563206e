import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf } from './anchors-of.ts'
import { type Page, pages, proseOf, ROOT } from './pages.ts'

const all = pages()

/** Tells what is wrong with the links of a page that lead to something in the repository. */
function brokenLinks(page: Page): readonly string[] {
  const targets = [...proseOf(page).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^https?:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#')
      const path = file === '' ? page.path : relative(ROOT, join(ROOT, dirname(page.path), file))
      if (!existsSync(join(ROOT, path))) return true
      const linked = all.find((other) => other.path === path)
      return anchor !== undefined && !(linked && anchorsOf(linked).includes(anchor))
    })
    .map((target) => `${page.path}: ${target}`)
}

describe('the links in the documentation', () => {
  it('lead somewhere', () => {
    expect(all.flatMap(brokenLinks)).toEqual([])
  })

  it('lead from the index to every page for users', () => {
    const index = all.find(({ path }) => path === 'docs/README.md')?.text ?? ''
    const inDocs = all
      .map(({ path }) => path)
      .filter((path) => /^docs\/[\w-]+\.md$/.test(path) && !/(README|architecture|rules)\.md$/.test(path))
    expect(inDocs.length).toBeGreaterThan(10)
    expect(inDocs.filter((path) => !index.includes(`(${path.slice('docs/'.length)})`))).toEqual([])
  })
})

describe('the files that the documentation names', () => {
  it('are there', () => {
    const named = all.flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:test|src|docs|examples|scripts)\/[\w./-]+)`/g)].map(([, file = '']) => ({ path, file })),
    )
    expect(named.filter(({ path }) => path === 'docs/security.md').length).toBeGreaterThan(30)
    expect(named.filter(({ file }) => !existsSync(join(ROOT, file)))).toEqual([])
  })
})
