import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Tests whose applications mount sessmgr's middlewares with `asServed`. */
const SUITES = ['rest', 'screen/admin-route', 'addons/addons-routes', 'activity'].map((it) => `test/behaviour/${it}`)

it('the REST routes and the admin screen behave through `serve` as they do on Express', { timeout: 900_000 }, () => {
  const vitest = join(ROOT, 'node_modules/.bin/vitest')
  const { status, stdout, stderr } = spawnSync(vitest, ['run', '--project', 'node', '--reporter', 'dot', ...SUITES], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, SERVED_BY: 'fetch', NO_COLOR: '1' },
  })
  expect(status === 0 ? '' : stdout + stderr).toBe('')
  expect(Number(/Tests +(\d+) passed/.exec(stdout)?.[1])).toBeGreaterThan(1000)
})
