import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import express, { type RequestHandler } from 'express'
import supertest from 'supertest'
import ts from 'typescript'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import type { Sessmgr } from '../../src/index.ts'
import { startExpressHost } from '../support/express-host.ts'
import { blocksOf } from './newcomer-programs.ts'
import { ROOT } from './pages.ts'

const ALICE = 2
const folder = join(ROOT, 'test-output', 'newcomer-addon')
const [addOn = ''] = blocksOf('docs/blog/add-ons.md', 'Writing one')

beforeAll(() => mkdirSync(join(folder, 'night-limit'), { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true }))

/** Loads the add-on of docs/blog/add-ons.md, as JavaScript, and gives it a limiter. */
async function nightLimit(limiter: Sessmgr): Promise<RequestHandler> {
  const { outputText } = ts.transpileModule(addOn, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
  })
  const file = join(folder, 'night-limit.mjs')
  writeFileSync(file, outputText)
  const written = await import(file)
  return written.nightLimit(limiter)
}

it.each([
  [3, 1],
  [12, 3],
])(
  'the add-on of docs/blog/add-ons.md holds its limit at night alone: at %i o’clock %i sessions',
  async (hour, sessions) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(2030, 0, 1, hour) })
    onTestFinished(() => void vi.useRealTimers())
    const host = await startExpressHost({ settings: { maximum: 3, logic: 'logout_oldest' } })
    for (const _ of [1, 2, 3]) await host.signedIn('alice')
    expect(await host.limiter.sessions.count(ALICE)).toBe(3)

    await nightLimit(host.limiter)
    const last = await host.signedIn('alice')
    expect(await host.limiter.sessions.count(ALICE)).toBe(sessions)
    expect(await last.me()).toBe(200)
  },
)

it('it takes its limit from its option, and serves the script of its panel', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(2030, 0, 1, 3) })
  onTestFinished(() => void vi.useRealTimers())
  vi.spyOn(process, 'cwd').mockReturnValue(folder)
  onTestFinished(() => void vi.restoreAllMocks())
  writeFileSync(join(folder, 'night-limit', 'panel.js'), '// the panel\n')
  const { limiter, signedIn } = await startExpressHost({ settings: { maximum: 3, logic: 'logout_oldest' } })
  const app = express().use(await nightLimit(limiter))
  expect((await supertest(app).get('/night-limit/panel.js')).text).toBe('// the panel\n')

  await limiter.options.get('night_limit')?.update({ maximum: 2 })
  for (const _ of [1, 2, 3]) await signedIn('alice')
  expect(await limiter.sessions.count(ALICE)).toBe(2)
})
