import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOORS, FLOORS, importViolations } from './support/import-rules.ts'

const root = join(import.meta.dirname, '..', 'src')
const files = readdirSync(root, { recursive: true })
  .map((path) => String(path).replaceAll('\\', '/'))
  // The browser code is an island with rules of its own.
  .filter((path) => /\.(ts|tsx)$/.test(path) && !path.startsWith('browser/'))
  .sort()
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('the rules of the house', () => {
  it.each(files)('src/%s imports only what its floor may know', (path) => {
    expect(importViolations(path, read(path))).toEqual([])
  })

  it.each(files)('src/%s has at most 300 lines', (path) => {
    expect(read(path).trimEnd().split('\n').length).toBeLessThanOrEqual(300)
  })

  it('are for the files that are there', () => {
    expect(files).toContain('index.ts')
    expect(files.filter((path) => path.startsWith('limiter/')).length).toBeGreaterThan(3)
  })

  it('have a median of fewer than 100 lines in a file', () => {
    const lines = files.map((path) => read(path).split('\n').length).sort((a, b) => a - b)
    expect(lines[Math.floor(lines.length / 2)]).toBeLessThan(100)
  })

  it('give every door of the package a file, and every such file a door', () => {
    const manifest = JSON.parse(readFileSync(join(root, '..', 'package.json'), 'utf8')) as { exports: object }
    const exported = Object.keys(manifest.exports)
      .filter((key) => key !== './package.json' && !key.endsWith('.css'))
      .map((key) => (key === '.' ? 'index.ts' : `${key.slice(2)}.ts`))
    const present = DOORS.filter((door) => files.includes(door))
    expect(exported.sort()).toEqual([...present].sort())
  })
})

describe('the check of imports', () => {
  const floors = Object.entries(FLOORS)
  const lowest = "import { b } from '../hooks/bus.ts'"

  it('lets every folder import the ground, itself and lower floors', () => {
    for (const [folder, floor] of floors) {
      const below = floors.filter(([, other]) => other < floor).map(([name]) => `import '../${name}/x.ts'`)
      const source = ["import { e } from '../errors.ts'", "import { own } from './own.ts'", ...below].join('\n')
      expect(importViolations(`${folder}/a.ts`, source), folder).toEqual([])
    }
  })

  it('lets no folder import an equal or a higher floor', () => {
    for (const [folder, floor] of floors) {
      for (const [other] of floors.filter(([name, above]) => above >= floor && name !== folder)) {
        for (const source of [
          `import { x } from '../${other}/x.ts'`,
          `export { x } from '../${other}/x.ts'`,
          `const x = await import('../${other}/x.ts')`,
          `import '../${other}/deep/x.ts'`,
        ]) {
          expect(importViolations(`${folder}/a.ts`, source), source).toHaveLength(1)
        }
      }
    }
  })

  it('lets types come from above into the hooks alone', () => {
    const source = "import type { X } from '../strategies/x.ts'"
    expect(importViolations('hooks/a.ts', source)).toEqual([])
    expect(importViolations('hooks/a.ts', "import { type X } from '../strategies/x.ts'")).toHaveLength(1)
    expect(importViolations('sessions/a.ts', source)).toHaveLength(1)
    expect(importViolations('sessions/a.ts', "let x: import('../stores/x.ts').X")).toHaveLength(1)
  })

  it('lets the ground import the ground alone', () => {
    expect(importViolations('deadline.ts', "import { e } from './errors.ts'")).toEqual([])
    expect(importViolations('deadline.ts', "import { b } from './hooks/bus.ts'")).toHaveLength(1)
  })

  it('lets a folder within a folder stand on the floor of the outer one', () => {
    expect(importViolations('stores/memory/a.ts', "import { x } from '../store.ts'")).toEqual([])
    expect(importViolations('stores/memory/a.ts', "import { x } from '../../sessions/x.ts'")).toEqual([])
    expect(importViolations('stores/memory/a.ts', "import { x } from '../../limiter/x.ts'")).toHaveLength(1)
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
    expect(importViolations('cli.ts', "import { x } from './limiter/x.ts'")).toHaveLength(1)
    expect(importViolations('cli/a.ts', "import { x } from '../cli.ts'")).toHaveLength(1)
  })

  it('lets floors 0 to 4 know no web framework, and no floor a Redis client', () => {
    for (const name of ['express', 'express-session', 'passport', 'passport-local']) {
      const source = `import type { X } from '${name}'`
      expect(importViolations('limiter/a.ts', source), name).toHaveLength(1)
      expect(importViolations('errors.ts', source), name).toHaveLength(1)
      expect(importViolations('middleware/a.ts', source), name).toEqual([])
    }
    for (const name of ['redis', 'ioredis', '@redis/client']) {
      expect(importViolations('stores/redis/a.ts', `import type { X } from '${name}'`), name).toHaveLength(1)
    }
  })

  it('lets the hooks know nothing of Node, since browsers run them too', () => {
    expect(importViolations('hooks/a.ts', "import { x } from 'node:fs'")).toHaveLength(1)
    expect(importViolations('sessions/a.ts', "import { x } from 'node:fs'")).toEqual([])
  })

  it('knows no folder without a floor', () => {
    expect(importViolations('utils/a.ts', lowest)).toEqual(['src/utils/ has no floor'])
  })
})
