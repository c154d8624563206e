import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Format } from 'esbuild'
import { expect, test } from 'vitest'
import { bundleProgram } from '../../support/bundle-program.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SCREEN = join(ROOT, 'dist/admin')

const PROGRAM = `
import { sessmgr } from 'sessmgr'
const users = { findById() {}, findByEmail() {}, findByLogin() {}, summary() {} }
const limiter = sessmgr({ host: { users, can: () => true } })
console.log('loaded')
try {
  console.log(typeof limiter.admin())
} catch ({ code, message }) {
  console.log(code, message)
}
`

test.each<[Format, string]>([
  ['cjs', 'require'],
  ['esm', 'import'],
])('a bundle as %s of what %s gives loads, and asks for the screen beside it', async (format, way) => {
  const contents = way === 'import' ? PROGRAM : PROGRAM.replace(/import (.*) from (.*)/, 'const $1 = require($2)')
  const { folder, run } = await bundleProgram(contents, format)

  const without = run()
  expect(without.stderr).toBe('')
  expect(without.stdout).toMatch(/^loaded\ninvalid_option The admin screen's files are not in /)
  expect(without.stdout).toContain(join(folder, 'admin'))
  cpSync(SCREEN, join(folder, 'admin'), { recursive: true })
  expect(run()).toMatchObject({ stdout: 'loaded\nfunction\n', stderr: '' })
})

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly isDynamicEntry?: boolean
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

const packed = (file: string) => gzipSync(readFileSync(join(SCREEN, file)), { level: 9 }).length

test('the first load of every tab takes at most 70 kB of compressed script and style', () => {
  if (!existsSync(SCREEN)) throw new Error('dist/admin is missing: run `npm run build`.')
  const chunks: Record<string, Chunk> = JSON.parse(readFileSync(join(SCREEN, 'manifest.json'), 'utf8'))
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
    expect(size, name).toBeLessThanOrEqual(70_000)
  }
})
