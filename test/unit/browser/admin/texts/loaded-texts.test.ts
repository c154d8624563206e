import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TEXTS } from '../../../../../src/browser/admin/texts/texts.ts'
import { LATE_TEXTS, SCREEN_PREFIX } from '../../../../../src/texts/english.ts'

const root = join(import.meta.dirname, '../../../../../src/browser/admin')
const MAIN = 'main.tsx'
const SHELL = 'texts/shell-texts.ts'
const isTexts = (file: string) => file.endsWith('-texts.ts') && file !== 'texts/use-texts.ts'

const sources = new Map(
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
)
const codeOf = (file: string) => sources.get(file) ?? ''

/** The files that a file imports: at once, or those that it loads later. */
function importsOf(file: string, kind: 'static' | 'dynamic'): string[] {
  const pattern =
    kind === 'static' ? /^(?:import|export)(?! type)[^;]*? from '(\.[^']+)'$/gms : /import\('(\.[^']+)'\)/g
  return [...codeOf(file).matchAll(pattern)]
    .map(([, path = '']) => join(dirname(file), path))
    .filter((path) => sources.has(path))
}

/** A file and all that come with it. */
function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  for (const next of importsOf(file, 'static')) withImports(next, found)
  return found
}

/** Strings that look like a key, but are something else. */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  over_limit: ['sessions/people/people-views.ts', 'options/save-bar.tsx'],
}

const keys = new Set(Object.keys(TEXTS))
const keysIn = (texts: string) => [...codeOf(texts).matchAll(/^ {2}(\w+):/gm)].map(([, key = '']) => key)

/** The keys that a file uses. A word that might be something else counts only where it is surely a key. */
function usedIn(file: string): string[] {
  const code = codeOf(file)
  const isElsewhere = (word: string) => OTHERS[word]?.includes(file)
  const words = [
    ...code.matchAll(/'([a-z]\w*_\w*)'/g),
    ...code.matchAll(/\b(?:t|countKey)\(\s*(?:[^'()]*\? )?'(\w+)'/g),
  ]
  const props = [...code.matchAll(/\b(?:label|what)="(\w+)"/g)]
  const stems = [...code.matchAll(/`([a-z]\w*_)\$\{/g)].flatMap(([, stem = '']) =>
    [...keys].filter((key) => key.startsWith(stem)),
  )
  const named = [...words, ...props].flatMap(([, word = '']) =>
    isElsewhere(word) ? [] : [word, `${word}_one`, `${word}_other`].filter((key) => keys.has(key)),
  )
  return [...named, ...stems]
}

describe('the texts of the screen', () => {
  const parts = [...new Set([...sources.keys()].flatMap((file) => importsOf(file, 'dynamic')))]
  const frame = withImports(MAIN)

  it('are loaded with each part of the screen that uses them', () => {
    expect(parts.length).toBeGreaterThan(7)
    for (const part of [MAIN, ...parts]) {
      const openers = [MAIN, ...parts].filter((one) =>
        [...withImports(one)].some((file) => importsOf(file, 'dynamic').includes(part)),
      )
      // What only one part opens is never there without it.
      const opener = withImports(openers.length === 1 && openers[0] ? openers[0] : MAIN)
      const files = new Set([...frame, ...opener, ...withImports(part)])
      const loaded = new Set([...files].filter(isTexts).flatMap(keysIn))
      const used = [...files].filter((file) => !isTexts(file)).flatMap(usedIn)
      expect(used.length).toBeGreaterThan(20)
      expect(
        used.filter((key) => !loaded.has(key)),
        part,
      ).toEqual([])
    }
  })

  it('are added by the file that imports them, and only those of the frame are there from the start', () => {
    for (const [file, code] of sources) {
      if (file === 'texts/texts.ts') continue
      const imported = importsOf(file, 'static').filter((path) => isTexts(path) && path !== SHELL)
      expect(code.match(/^addTexts\(\w+_TEXTS\)$/gm) ?? [], file).toHaveLength(imported.length)
    }
    expect([...frame].filter(isTexts)).toEqual([SHELL])
  })

  it('are each in one file, and the server knows them all', () => {
    const all = [...sources.keys()].filter(isTexts).flatMap(keysIn)
    expect(all.sort()).toEqual([...keys].sort())
    for (const key of keys) expect(LATE_TEXTS).toHaveProperty(SCREEN_PREFIX + key)
  })
})
