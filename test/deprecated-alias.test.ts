import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { deprecatedAlias } from '../src/deprecated-alias.ts'

const NAMES = { door: 'sessmgr/comments', oldName: 'createX', newName: 'createY' }
const MESSAGE = 'createX of sessmgr/comments is called createY now. The old name goes with the next major release.'

/** Two copies of the file, as a process has them that loads the package by `import` and by `require`. */
const PROGRAM = `
import { deprecatedAlias } from './deprecated-alias.mjs'
import { deprecatedAlias as ofTheOtherCopy } from './deprecated-alias.mjs?copy'

const names = ${JSON.stringify(NAMES)}
const seen = []
process.on('warning', ({ name, code, message }) => seen.push({ name, code, message }))
process.on('exit', () => console.log(JSON.stringify({ seen, results })))

const results = {}
const createX = deprecatedAlias(function (...given) { return { of: this, given } }, names)
const alsoX = ofTheOtherCopy((text) => text + '!', names)
const owner = { createX, name: 'owner' }
results.call = owner.createX(1, 'two')
results.again = createX.call(7)
results.other = alsoX('hello')

class New {
  static kind = 'new'
  constructor(value) { this.value = value }
  get twice() { return this.value * 2 }
}
const Old = deprecatedAlias(New, { ...names, oldName: 'Old', newName: 'New' })
class Child extends Old {}
const made = new Old(2)
const child = new Child(3)
results.class = [made.twice, made instanceof New, made instanceof Old, new New(1) instanceof Old, Old.kind]
results.child = [child.twice, child instanceof Child, child instanceof New]
`

interface Ran {
  readonly failed: boolean
  readonly err: string
  readonly seen: readonly { name: string; code: string; message: string }[]
  readonly results: Readonly<Record<string, unknown>>
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sessmgr-alias-'))
  const source = readFileSync(join(import.meta.dirname, '../src/deprecated-alias.ts'), 'utf8')
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  writeFileSync(join(folder, 'deprecated-alias.mjs'), ts.transpileModule(source, { compilerOptions }).outputText)
  writeFileSync(join(folder, 'program.mjs'), PROGRAM)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the program in a process of its own. */
function run(...flags: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    // Without NODE_OPTIONS of the one who runs the tests, which may speak of warnings too.
    const options = { env: { PATH: process.env.PATH ?? '' } }
    execFile(process.execPath, [...flags, join(folder, 'program.mjs')], options, (error, out, err) =>
      resolve({ failed: error !== null, err, ...JSON.parse(out) }),
    )
  })
}

describe('a deprecated alias', () => {
  it('warns once in a process for however many calls and copies, with type, code and both names', async () => {
    const { seen, err, failed } = await run()
    const [createX, Old] = seen
    expect(failed).toBe(false)
    expect(seen).toHaveLength(2)
    expect(createX).toEqual({ name: 'DeprecationWarning', code: 'SESSMGR_DEP_createX', message: MESSAGE })
    expect(Old).toMatchObject({ name: 'DeprecationWarning', code: 'SESSMGR_DEP_Old' })
    expect(err.split(MESSAGE)).toHaveLength(2)
  })

  it('passes parameters, result and `this` through', async () => {
    const { results } = await run()
    expect(results.call).toEqual({ of: { name: 'owner' }, given: [1, 'two'] })
    expect(results.again).toEqual({ of: 7, given: [] })
    expect(results.other).toBe('hello!')
  })

  it('of a class constructs it, also below another class, and is the same to instanceof', async () => {
    const { results } = await run()
    expect(results.class).toEqual([4, true, true, true, 'new'])
    expect(results.child).toEqual([6, true, true])
  })

  it('ends the process under --throw-deprecation, and shows where it was called', async () => {
    const { failed, err } = await run('--throw-deprecation')
    expect(failed).toBe(true)
    expect(err).toContain(MESSAGE)
    expect(err).toContain("code: 'SESSMGR_DEP_createX'")
    const line = PROGRAM.split('\n').findIndex((text) => text.includes('owner.createX')) + 1
    expect(err).toContain(`program.mjs:${line}:`)
  })

  it('says nothing under --no-deprecation, and does the same', async () => {
    const loud = await run()
    const silent = await run('--no-deprecation')
    expect([silent.failed, silent.err, silent.seen]).toEqual([false, '', []])
    expect(silent.results).toEqual(loud.results)
  })

  it('has the type of what it stands for', () => {
    const find = <T>(list: readonly T[], index = 0): T | undefined => list[index]
    expectTypeOf(deprecatedAlias(find, NAMES)).toEqualTypeOf(find)
    expectTypeOf(deprecatedAlias(URL, NAMES)).toEqualTypeOf(URL)
  })
})
