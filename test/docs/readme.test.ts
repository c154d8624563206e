import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readmeProgram } from '../../scripts/readme-program.mjs'
import { startRedis } from '../support/redis-server.ts'
import { asCommonJs, blocksOf, withRedis } from './newcomer-programs.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
// Below the package's own folder, where its name and those of its packages lead to them.
const folder = join(ROOT, 'test-output', 'readme')
const tryReadme = new URL('../../scripts/try-readme.mjs', import.meta.url).href
const run = promisify(execFile)
const program = readmeProgram()

beforeAll(() => mkdirSync(folder, { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true }))

/** Starts a program and runs the README's lines on it; rejects unless they print what the README says. */
async function tryOut(name: string, code: string, env: Record<string, string> = {}) {
  writeFileSync(join(folder, name), code)
  return run(process.execPath, ['--import', tryReadme, name], { cwd: folder, env: { ...process.env, ...env } })
}

describe('the program at the top of the README', () => {
  it('stands in its first thirty lines', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    expect(readme.split('\n').slice(0, 30).join('\n')).toContain(`\`\`\`ts\n${program.esm}\`\`\``)
  })

  it('lets the last two of three browsers stay signed in, as an ES module', async () => {
    await tryOut('app.mjs', program.esm)
  })

  it('does so in CommonJS', async () => {
    await tryOut('app.cjs', program.commonjs)
  })

  it('would not do so without its one line', async () => {
    const without = program.esm.replace(/^app\.use\(sessmgr\(.*\n/m, '')
    expect(without).not.toBe(program.esm)
    await expect(tryOut('without.mjs', without)).rejects.toThrow(/signed in\nsigned in\nsigned in\ninstead of/)
  })

  it('would not do so with that line behind the route that logs people in', async () => {
    const behind = program.esm.replace(/^(app\.use\(sessmgr\(.*\n)([\s\S]*^app\.post\(.*\n)/m, '$2$1')
    expect(behind.indexOf('app.use(sessmgr')).toBeGreaterThan(behind.indexOf('app.post'))
    await expect(tryOut('behind.mjs', behind)).rejects.toThrow(/signed in\nsigned in\nsigned in\ninstead of/)
  })
})

const [withoutPassport = ''] = blocksOf('README.md', 'Without Passport')

describe('the program without Passport', () => {
  it.each([
    ['mjs', withoutPassport],
    ['cjs', asCommonJs(withoutPassport)],
  ])('is tried out with the same lines, as .%s', async (extension, code) => {
    expect(code).toContain('limiter.login')
    await tryOut(`without-passport.${extension}`, code)
  })
})

describe('the lines for Redis', () => {
  it.each([
    ['the program at the top', program.esm],
    ['the program without Passport', withoutPassport],
  ])('go into %s', async (name, code) => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const text = withRedis(code, blocksOf('README.md', 'More than one process'))
    expect(text).toContain('new RedisStore')
    const file = name.replaceAll(' ', '-')
    await tryOut(`${file}.mjs`, text, { REDIS_URL: redis.url })
    await tryOut(`${file}.cjs`, asCommonJs(text), { REDIS_URL: redis.url })
  })
})
