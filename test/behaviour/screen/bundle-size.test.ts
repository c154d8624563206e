import { existsSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const FOLDER = new URL('../../../dist/admin/', import.meta.url)
const LIMIT = 70_000

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly isDynamicEntry?: boolean
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

const packed = (file: string) => gzipSync(readFileSync(new URL(file, FOLDER)), { level: 9 }).length

test('the first load of every tab takes at most 70 kB of compressed script and style', () => {
  if (!existsSync(FOLDER)) throw new Error('dist/admin is missing: run `npm run build`.')
  const chunks: Record<string, Chunk> = JSON.parse(readFileSync(new URL('manifest.json', FOLDER), 'utf8'))
  const filesOf = (name: string): string[] => {
    const { file, css = [], imports = [] } = chunks[name] as Chunk
    return [file, ...css, ...imports.flatMap(filesOf)]
  }
  const names = Object.keys(chunks)
  const entry = names.filter((name) => chunks[name]?.isEntry).flatMap(filesOf)
  const late = names.filter((name) => chunks[name]?.isDynamicEntry)
  expect([entry.length > 0, late.length > 0]).toEqual([true, true])
  const sizes = late.map((name) => {
    const size = [...new Set([...entry, ...filesOf(name)])].reduce((sum, file) => sum + packed(file), 0)
    return [name, size] as const
  })
  console.log(sizes.map(([name, size]) => `first load with ${name}: ${Math.round(size / 100) / 10} kB`).join('\n'))
  for (const [name, size] of sizes) {
    expect(size, name).toBeGreaterThan(20_000)
    expect(size, name).toBeLessThanOrEqual(LIMIT)
  }
})
