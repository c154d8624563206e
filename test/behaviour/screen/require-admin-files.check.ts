import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Format } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const SCREEN = join(ROOT, 'dist/admin')

const PROGRAM = `
import { sessmgr } from 'sessmgr'
const users = { findById() {}, findByEmail() {}, findByLogin() {}, summary() {} }
const limiter = sessmgr({ host: { users, can: () => true } })
console.log('loaded')
try {
  console.log(typeof limiter.admin())
} catch ({ code, message }) {
  console.log(code, message)
}
`

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sessmgr-bundle-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test.each<[Format, string, string]>([
  ['cjs', 'require', 'cjs'],
  ['esm', 'import', 'mjs'],
])('a bundle as %s of what %s gives loads, and asks for the screen beside it', async (format, way, extension) => {
  const folder = emptyFolder()
  const bundle = join(folder, 'out', `app.${extension}`)
  mkdirSync(join(folder, 'out'))
  const contents = way === 'import' ? PROGRAM : PROGRAM.replace(/import (.*) from (.*)/, 'const $1 = require($2)')
  // What a CommonJS dependency requires has to be found in an ES module, too.
  const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"
  await build({
    stdin: { contents, resolveDir: ROOT },
    bundle: true,
    platform: 'node',
    format,
    outfile: bundle,
    logLevel: 'error',
    // The built package, and not its sources, to which the paths of this project lead.
    tsconfigRaw: {},
    ...(format === 'esm' && { banner: { js: banner } }),
  })
  const run = () => spawnSync(process.execPath, [bundle], { encoding: 'utf8' })

  const without = run()
  expect(without.stderr).toBe('')
  expect(without.stdout).toMatch(/^loaded\ninvalid_option The admin screen's files are not in /)
  expect(without.stdout).toContain(join(folder, 'out', 'admin'))
  cpSync(SCREEN, join(folder, 'out', 'admin'), { recursive: true })
  expect(run()).toMatchObject({ stdout: 'loaded\nfunction\n', stderr: '' })
})
