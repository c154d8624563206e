import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CompiledDoors, compileDoors, DOORS } from '../docs/compile-doors.ts'
import { DOORS as FILES } from '../support/import-rules.ts'
import { findAny } from './find-any.ts'

/** What the application alone knows the type of, and nobody could use if it were `unknown`. */
const INTENDED = [
  'BoundOptions.required(request)',
  'ChoiceOptions.complete(request)',
  'ChoiceOptions.complete(response)',
  'ChoiceOptions.complete(user)',
  'FormFields(request)',
  'HostUsers.findById(id)',
  'LazyCommentsOptions.host<>',
  'LazyCommentsOptions.user(request)',
  'LoginContext.request',
  'PageOptions.texts(request)',
  'RedisClient.execute(task)(connection)',
  'RedisClient.use(task)(connection)',
  'SessmgrOptions.host<>',
  'SessmgrOptions.sessionUser(data)<>',
  'SessmgrOptions.userId(user)',
  'StepUpOptions.verify(request)',
  'VerifyChoice(request)',
  'VerifyChoice(user)',
]

const MADE_UP = `
interface Hidden<T = any> { member: T }
type Named = { answer: any }
export interface Result { read(): Promise<any> }
export interface Options { deep?: { list: readonly { value: any }[] } | undefined }
export interface Parent extends Hidden<string> {}
export type Table = Record<string, any>
export type Few = Record<'one', any>
export type Choice<T> = T extends string ? { chosen: any } : never
export type Each<T> = { [K in keyof T]: (key: K) => any }
export type Pair = [string, Named]
export class Thing { constructor(readonly made: string, from: any) { this.#own = from }; #own: any; private hidden: any }
export function generic<T extends any[]>(...values: T): void {}
export const value: { call: (task: (input: any) => void) => void }
export const fine: { text: string; when(at: Date): Promise<Map<string, unknown>>; again: typeof fine | undefined }
`

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sessmgr-any-')))
afterAll(() => rmSync(folder, { recursive: true }))

let compiled: CompiledDoors
const only = (isWanted: (name: string) => boolean) => ({
  ...compiled,
  doors: compiled.doors.filter(({ name }) => isWanted(name)),
})

describe('the types of the doors', () => {
  // One program for both: the compiler takes its time.
  beforeAll(() => {
    const madeUp = join(folder, 'made-up.ts')
    writeFileSync(madeUp, MADE_UP)
    compiled = compileDoors({ ...DOORS, 'made-up': madeUp })
  })

  it('say any nowhere but where it is meant', () => {
    expect(findAny(only((name) => name !== 'made-up'))).toEqual(INTENDED)
  })

  it('would be found to say any at any depth', () => {
    const found = findAny(
      only((name) => name === 'made-up'),
      folder,
    )
    expect(found).toEqual([
      'Choice.chosen',
      'Each[]()',
      'Few.one',
      'Named.answer',
      'Options.deep.list<>.value',
      'Parent<><T>',
      'Result.read()<>',
      'Table[]',
      'Thing(from)',
      'generic<T><>',
      'value.call(task)(input)',
    ])
  })

  it('are those of every door', () => {
    expect(Object.values(DOORS).toSorted()).toEqual(FILES.map((file) => `src/${file}`).toSorted())
  })
})
