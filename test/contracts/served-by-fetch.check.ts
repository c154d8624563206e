import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { rounds } from '../support/rounds.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const PROJECTS = ['--project', 'node', '--project', 'check']

/** Tests whose applications mount sessmgr's middlewares with `asServed`: a few for a merge, all for a release. */
const [suites, least] =
  rounds(1) > 1
    ? [['rest', 'screen/admin-route', 'addons/addons-routes', 'activity'], 150]
    : [['rest/sessions', 'screen/admin-route', 'activity'], 40]

it('the REST routes and the admin screen behave through `serve` as they do on Express', { timeout: 900_000 }, () => {
  const folders = suites.map((suite) => `test/behaviour/${suite}`)
  const vitest = join(ROOT, 'node_modules/.bin/vitest')
  const { status, stdout, stderr } = spawnSync(vitest, ['run', ...PROJECTS, '--reporter', 'dot', ...folders], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ROUNDS: '1', SERVED_BY: 'fetch', NO_COLOR: '1' },
  })
  expect(status === 0 ? '' : stdout + stderr).toBe('')
  expect(Number(/Tests +(\d+) passed/.exec(stdout)?.[1])).toBeGreaterThan(least)
})
