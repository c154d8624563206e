import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExampleApp } from '../support/example-app.ts'
import { runCurl } from '../support/run-curl.ts'
import { codeBlocks, pages } from './pages.ts'

const shell = pages()
  .filter(({ path }) => path !== 'README.md')
  .flatMap(codeBlocks)
  .filter(({ language }) => language === 'sh')
  .map(({ code }) => code)
  .join('\n')
const lines = shell.match(/^curl .*$/gm) ?? []
const password = /^SEED_APP_PASSWORD=(\S+) npm start$/m.exec(shell)?.[1] ?? ''

let example: ExampleApp
beforeAll(async () => {
  example = await ExampleApp.start({ SEED_APP_PASSWORD: password })
}, 240_000)
afterAll(() => example.stop())

// README.md has a test of its own, test/docs/readme-curl.test.ts.
describe('the curl lines of the documentation, on the example application', () => {
  it.each(lines)('%s', async (line) => {
    expect(line).toContain('http://127.0.0.1:3000/api/')
    const { status, json } = await runCurl(line, example.origin)
    expect([status, typeof json]).toEqual([200, 'object'])
  })
})
