import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './pages.ts'

it('the API reference has every public name, each with a sentence, and no dead link', { timeout: 300_000 }, () => {
  const typedoc = join(ROOT, 'node_modules/typedoc/bin/typedoc')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [typedoc, '--options', 'site/typedoc.json', '--emit', 'none', '--logLevel', 'Warn'],
    { cwd: ROOT, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
  )
  expect(stdout + stderr).toBe('')
  expect(status).toBe(0)
})
