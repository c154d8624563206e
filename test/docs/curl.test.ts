import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExampleProcess } from '../support/example-process.ts'
import { codeBlocks, pages } from './pages.ts'

const shell = pages()
  .filter(({ path }) => path !== 'README.md')
  .flatMap(codeBlocks)
  .filter(({ language }) => language === 'sh')
  .map(({ code }) => code)
  .join('\n')
const lines = shell.match(/^curl .*$/gm) ?? []
const password = /^SEED_APP_PASSWORD=(\S+) npm start$/m.exec(shell)?.[1] ?? ''
const run = promisify(execFile)

let example: ExampleProcess
beforeAll(async () => {
  example = await ExampleProcess.start({ SEED_APP_PASSWORD: password })
}, 240_000)
afterAll(() => example.stop())

// README.md has a test of its own, test/readme-curl.test.ts.
describe('the curl lines of the documentation, on the example application', () => {
  it.each(lines)('%s', async (line) => {
    expect(line).toContain('http://127.0.0.1:3000/api/')
    const here = line.replace('http://127.0.0.1:3000', example.origin)
    const { stdout } = await run('sh', ['-c', `${here} -sS -w '\\n%{http_code}'`])
    const at = stdout.lastIndexOf('\n')
    expect([stdout.slice(at + 1), typeof JSON.parse(stdout.slice(0, at))]).toEqual(['200', 'object'])
  })
})
