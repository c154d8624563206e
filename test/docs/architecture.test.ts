import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** The files and folders that a page names, below src/ or the root. */
const pathsIn = (page: string) => [...page.matchAll(/`([\w.-]+\/[\w./-]*)`/g)].map(([, path = '']) => path)
const isThere = (path: string) => ['src', '.'].some((folder) => existsSync(join(ROOT, folder, path)))

it('the page on architecture names files that exist', () => {
  const paths = pathsIn(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')).filter(
    (path) => path !== 'sessmgr/redis',
  )
  expect(paths.length).toBeGreaterThan(40)
  expect(paths.filter((path) => path !== 'sessmgr/testing' && !isThere(path))).toEqual([])
  expect(isThere('door/made-up.ts')).toBe(false)
})

it('the page on architecture walks through each of four calls in at most ten lines', () => {
  const sections = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8').split(/^## /m)
  const walks = ['A login', 'A request', 'The end of', 'A REST call'].map((title) =>
    sections.find((section) => section.startsWith(title)),
  )
  for (const walk of walks) {
    const lines =
      walk
        ?.split('\n')
        .slice(1)
        .filter((line) => line !== '') ?? []
    expect(lines.length).toBeGreaterThan(3)
    expect(lines.length, walk).toBeLessThanOrEqual(10)
  }
})
