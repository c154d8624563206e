import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOORS, FLOORS, importViolations } from '../support/import-rules.ts'

const root = join(import.meta.dirname, '../../src')
const present = readdirSync(root, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll('\\', '/'))
  .sort()
const files = present.filter((path) => /\.[cm]?[jt]sx?$/.test(path))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('the rules of the house', () => {
  it('let a file import only what its floor may know', () => {
    expect(files.flatMap((path) => importViolations(path, read(path)))).toEqual([])
  })

  it.each(['src', 'test', 'scripts', 'bench', 'examples'])('%s/ has no file of more than 450 lines', (folder) => {
    const top = join(root, '..', folder)
    const sources = readdirSync(top, { recursive: true, encoding: 'utf8' }).filter(
      (path) => /\.[cm]?[jt]sx?$/.test(path) && !/node_modules|[/\\]dist[/\\]/.test(path),
    )
    expect(sources.length).toBeGreaterThan(5)
    const lines = (path: string) => readFileSync(join(top, path), 'utf8').trimEnd().split('\n').length
    expect(sources.filter((path) => lines(path) > 450)).toEqual([])
  })

  it('give every door of the package a file, and every such file a door', () => {
    const manifest = JSON.parse(readFileSync(join(root, '..', 'package.json'), 'utf8')) as { exports: object }
    const exported = Object.keys(manifest.exports)
      .filter((key) => key !== './package.json' && !key.endsWith('.css'))
      .map((key) => (key === '.' ? 'index.ts' : `${key.slice(2)}.ts`))
    expect(exported.sort()).toEqual(DOORS.filter((door) => files.includes(door)).sort())
  })
})

describe('the check of imports', () => {
  const floors = Object.entries(FLOORS)
  const lowest = "import { b } from '../hooks/bus.ts'"

  it('lets no folder import an equal or a higher floor', () => {
    for (const [folder, floor] of floors) {
      const up = folder.includes('/') ? '../..' : '..'
      for (const [other] of floors.filter(([name, above]) => above >= floor && name !== folder)) {
        for (const source of [
          `import { x } from '${up}/${other}/x.ts'`,
          `export { x } from '${up}/${other}/x.ts'`,
          `const x = await import('${up}/${other}/x.ts')`,
          `import '${up}/${other}/deep/x.ts'`,
        ]) {
          expect(importViolations(`${folder}/a.ts`, source), source).toHaveLength(1)
        }
      }
    }
  })

  it('lets an extension import doors, the ground and itself, and nothing import an extension', () => {
    const from = (path: string) => `import { x } from '${path}'`
    for (const path of ['../../index.ts', '../../extend.ts', '../../ground/errors.ts', './own.ts']) {
      expect(importViolations('extensions/live/a.ts', from(path)), path).toEqual([])
    }
    for (const path of ['../../limiter/x.ts', '../../cli.ts', '../jwt/x.ts']) {
      expect(importViolations('extensions/live/a.ts', from(path)), path).toHaveLength(1)
    }
    for (const folder of Object.keys(FLOORS).filter((each) => each !== 'cli')) {
      const up = folder.includes('/') ? '../..' : '..'
      expect(importViolations(`${folder}/a.ts`, from(`${up}/extensions/live/x.ts`)), folder).toHaveLength(1)
      expect(importViolations(`${folder}/a.ts`, from(`${up}/extend.ts`)), folder).toHaveLength(1)
    }
  })

  it('finds an import however it is written', () => {
    const written = [
      "import 'express'",
      "import type { X } from 'express'",
      "export * from 'express'",
      "import express = require('express')",
      "const express = require('express')",
      "const express = await import('express')",
      'const express = await import(`express`)',
      "let app: import('express').Express",
      "declare module 'express' {}\nexport {}",
      '/// <reference types="express" />',
    ]
    for (const source of written) {
      expect(importViolations('limiter/a.mts', source), source).toEqual(['limiter/a.mts: may not know express'])
    }
    expect(importViolations('limiter/a.ts', 'import(`../middleware/x.ts`)')).toHaveLength(1)
  })

  it('lets no file compute what it imports, but the one that loads the configuration', () => {
    for (const source of ['import(name)', `import(\`\${'express'}\`)`, "import('exp' + 'ress')", 'require(name)']) {
      expect(importViolations('limiter/a.ts', source), source).toEqual(['limiter/a.ts: computes what it imports'])
      expect(importViolations('cli/load-config.ts', source), source).toEqual([])
    }
    const source = "import { createRequire } from 'node:module'"
    expect(importViolations('limiter/a.ts', source)).toHaveLength(1)
    expect(importViolations('cli/load-config.ts', source)).toEqual([])
  })

  it('knows no folder without a floor', () => {
    expect(importViolations('utils/a.ts', lowest)).toEqual(['src/utils/ has no floor'])
    expect(importViolations('constructor/a.ts', lowest)).toEqual(['src/constructor/ has no floor'])
  })
})
