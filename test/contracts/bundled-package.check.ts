import type { Format } from 'esbuild'
import { expect, test } from 'vitest'
import { bundleProgram } from '../support/bundle-program.ts'

/** Calls a REST route in the same turn in which the limiter was created, and reads the catalogue of texts. */
const PROGRAM = `
import { createServer } from 'node:http'
import { sessmgr, textCatalogue } from 'sessmgr'
const users = { findById() {}, findByEmail() {}, findByLogin() {}, summary() {} }
const warn = (message) => console.log(message)
const limiter = sessmgr({ host: { users, can: () => true }, logger: { warn, error: warn } })
const router = limiter.router()
const server = createServer((request, response) => router(request, response, () => response.end('no route')))
server.listen(0, '127.0.0.1', async () => {
  const answer = await fetch('http://127.0.0.1:' + server.address().port + '/sessmgr/v1/settings')
  console.log(answer.status, (await answer.json()).message)
  try {
    console.log(textCatalogue.texts.admin_save)
  } catch ({ code }) {
    console.log(code)
  }
  server.close()
})
`

async function outputOf(format: Format, contents: string): Promise<string> {
  const { run } = await bundleProgram(contents, format)
  const { stdout, stderr } = run()
  expect(stderr).toBe('')
  return stdout
}

test.each<Format>(['esm', 'cjs'])('a bundle as %s has the texts of what it loads on demand', async (format) => {
  expect(await outputOf(format, PROGRAM)).toContain('401 Sign in first.\n')
})

test('a bundle of the CommonJS build has all texts', async () => {
  const required = PROGRAM.replace(/import (.*) from 'sessmgr'/, "const $1 = require('sessmgr')")
  const output = await outputOf('cjs', required)
  expect(output).toBe('401 Sign in first.\nSave Changes\n')
})
