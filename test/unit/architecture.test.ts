import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOORS, FLOORS, importViolations, PACKAGES } from '../support/import-rules.ts'

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

  it('are for the files that are there', () => {
    expect(files).toContain('index.ts')
    expect(files.filter((path) => path.startsWith('limiter/')).length).toBeGreaterThan(3)
    expect(files).toContain('browser/comments/lazy-comments.ts')
    expect(files).toContain('browser/admin/main.tsx')
  })

  it('are for every file: all others are texts that the sources load', () => {
    expect(
      present.filter((path) => !/(\.tsx?|\.lua|\.css|\/tsconfig\.json|^extensions\/[\w-]+\/README\.md)$/.test(path)),
    ).toEqual([])
  })

  it('let no script of Redis and no style lie about that nothing loads', () => {
    const sources = files.map(read).join('\n')
    const build = readFileSync(join(root, '..', 'scripts', 'browser-assets.mjs'), 'utf8')
    const texts = present.filter((path) => /\.(lua|css)$/.test(path))
    expect(texts.length).toBeGreaterThan(15)
    const loaded = (path: string) => sources.includes(`/${basename(path)}'`) || build.includes(`'${basename(path)}'`)
    expect(texts.filter((path) => !loaded(path))).toEqual([])
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

  it('lets every folder import the ground, itself and lower floors', () => {
    for (const [folder, floor] of floors) {
      const up = folder.includes('/') ? '../..' : '..'
      const below = floors.filter(([, other]) => other < floor).map(([name]) => `import '${up}/${name}/x.ts'`)
      const source = [`import { e } from '${up}/ground/errors.ts'`, "import { own } from './own.ts'", ...below].join(
        '\n',
      )
      expect(importViolations(`${folder}/a.ts`, source), folder).toEqual([])
    }
  })

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

  it('lets no types come from above, into the hooks either', () => {
    const source = "import type { X } from '../strategies/x.ts'"
    expect(importViolations('hooks/a.ts', source)).toHaveLength(1)
    expect(importViolations('sessions/a.ts', source)).toHaveLength(1)
    expect(importViolations('sessions/a.ts', "let x: import('../stores/x.ts').X")).toHaveLength(1)
  })

  it('lets the ground import the ground alone', () => {
    expect(importViolations('ground/deadline.ts', "import { e } from './errors.ts'")).toEqual([])
    expect(importViolations('ground/deadline.ts', "import { b } from '../hooks/bus.ts'")).toHaveLength(1)
  })

  it('lets a folder within a folder stand on the floor of the outer one', () => {
    expect(importViolations('stores/memory/a.ts', "import { x } from '../store.ts'")).toEqual([])
    expect(importViolations('stores/memory/a.ts', "import { x } from '../../sessions/x.ts'")).toEqual([])
    expect(importViolations('stores/memory/a.ts', "import { x } from '../../limiter/x.ts'")).toHaveLength(1)
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

  it('lets no file come in through a door, and doors do nothing but re-export', () => {
    expect(importViolations('routes/a.ts', "import { x } from '../index.ts'")).toHaveLength(1)
    expect(importViolations('index.ts', "export * from './constants.ts'\nexport type { X } from './a/x.ts'")).toEqual(
      [],
    )
    for (const source of ['export const x = 1', "import './a.ts'", 'const x = 1\nexport { x }', 'run()']) {
      expect(importViolations('index.ts', source).length, source).toBeGreaterThan(0)
    }
  })

  it('lets the program run what stands in its folder, and import nothing else', () => {
    expect(importViolations('cli.ts', "import { run } from './cli/run.ts'\nawait run()")).toEqual([])
    for (const from of ['./limiter/x.ts', './ground/errors.ts', 'node:fs', 'commander']) {
      expect(importViolations('cli.ts', `import { x } from '${from}'`), from).toHaveLength(1)
    }
    expect(importViolations('cli/a.ts', "import { x } from '../cli.ts'")).toHaveLength(1)
  })

  it('lets a folder know the packages that are listed for it, and no other', () => {
    for (const [folder, names] of Object.entries(PACKAGES)) {
      for (const name of names) {
        const source = `import type { X } from '${name}'`
        expect(importViolations(`${folder}/a.ts`, source), `${folder}: ${name}`).toEqual([])
        expect(importViolations('limiter/a.ts', source), name).toHaveLength(1)
        expect(importViolations('ground/errors.ts', source), name).toHaveLength(1)
      }
    }
    const others = [
      'express',
      'express4',
      'passport',
      'connect-redis',
      'redis',
      '@redis/client',
      '@nestjs/common',
      'hono',
    ]
    for (const name of [...others, '@hono/node-server', 'zod', 'fs', '/etc/x.ts', 'sessmgr', 'sessmgr/fastify']) {
      for (const folder of [...Object.keys(FLOORS), 'browser/admin', 'browser/comments']) {
        const source = `import { x } from '${name}'`
        expect(importViolations(`${folder}/a.ts`, source), `${folder}: ${name}`).toHaveLength(1)
      }
    }
    expect(importViolations('routes/a.ts', "import { useState } from 'react'")).toHaveLength(1)
    expect(importViolations('browser/comments/a.ts', "import { useState } from 'react'")).toHaveLength(1)
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

  it('lets the hooks know nothing of Node, since browsers run them too', () => {
    expect(importViolations('hooks/a.ts', "import { x } from 'node:fs'")).toHaveLength(1)
    expect(importViolations('sessions/a.ts', "import { x } from 'node:fs'")).toEqual([])
  })

  it('lets the code of a page know the hooks, itself, and types', () => {
    const good = [
      "import { b } from '../../../hooks/bus.ts'",
      "import { own } from '../parts/own.tsx'",
      "const own = await import('./own.tsx')",
      "import './own.css'",
      "import type { Store } from '../../../stores/store.ts'",
      "import { FIRST_TAB } from '../../../features/admin/screen-tabs.ts'",
    ]
    expect(importViolations('browser/admin/shell/a.tsx', good.join('\n'))).toEqual([])
    expect(importViolations('features/admin/screen-tabs.ts', "import { x } from '../../ground/x.ts'")).toHaveLength(1)
    for (const from of ['limiter/x.ts', 'ground/errors.ts', 'index.ts', 'browser/comments/x.ts', '../scripts/x.mjs']) {
      const source = `import { x } from '../../../${from}'`
      expect(importViolations('browser/admin/shell/a.tsx', source), source).toHaveLength(1)
    }
    expect(importViolations('browser/comments/lazy-comments.ts', "import '../../limiter/x.ts'")).toHaveLength(1)
    expect(
      importViolations('browser/comments/lazy-comments.ts', "import type { X } from '../admin/x.ts'"),
    ).toHaveLength(1)
    expect(importViolations('browser/comments/lazy-comments.ts', "import { x } from 'node:fs'")).toHaveLength(1)
    expect(importViolations('service/a.ts', "import { x } from '../browser/comments/x.ts'")).toHaveLength(1)
  })

  it('lets a door open this package alone', () => {
    for (const from of ['express', '../bench/x.ts', './browser/comments/lazy-comments.ts']) {
      expect(importViolations('index.ts', `export * from '${from}'`), from).toHaveLength(1)
    }
  })

  it('knows no folder without a floor', () => {
    expect(importViolations('utils/a.ts', lowest)).toEqual(['src/utils/ has no floor'])
    expect(importViolations('constructor/a.ts', lowest)).toEqual(['src/constructor/ has no floor'])
  })
})
